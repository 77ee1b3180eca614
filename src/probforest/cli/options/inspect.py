"""The options of `probforest inspect`."""

from ..arguments import add_common, add_model, new_parser


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "inspect",
        description="Describe a saved forest: its classes, the columns it needs, its parameters, its most "
        "important features, and what it was trained on.",
        epilog="example:\n  probforest inspect stars.prf",
    )
    add_model(parser)
    add_common(parser)
