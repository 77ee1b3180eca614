"""The options of `probforest precompile`."""

from ..arguments import add_common, new_parser


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "precompile",
        description="Compile all kernels and keep them on disk, so that no later fit or prediction has to: when a "
        "container is built, or before many jobs start on a cluster. They are kept in the user's cache folder, or in "
        "the folder that the environment variable NUMBA_CACHE_DIR names.",
        epilog="in a container that runs on processors of many kinds and as any user:\n"
        "  ENV NUMBA_CACHE_DIR=/opt/kernels NUMBA_CPU_NAME=generic\n"
        "  RUN probforest precompile",
    )
    add_common(parser)
