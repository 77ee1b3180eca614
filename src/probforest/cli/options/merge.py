"""The options of `probforest merge`."""

from pathlib import Path

from ..arguments import add_common, add_output, new_parser


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "merge",
        description="Make one forest of several that were trained apart, on nodes of a cluster or on other parts of "
        "a table. All of them must have the same features: train them with the same --feature-model, each with a "
        "--seed of its own.",
        epilog="example:\n"
        "  probforest train sample.parquet --target class -o features.prf\n"
        "  probforest train part1.parquet --target class --feature-model features.prf --seed 1 -o part1.prf\n"
        "  probforest train part2.parquet --target class --feature-model features.prf --seed 2 -o part2.prf\n"
        "  probforest merge part1.prf part2.prf -o forest.prf",
    )
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="forests saved by probforest train")
    add_output(parser, "OUT", "where to save the forest")
    add_common(parser)
