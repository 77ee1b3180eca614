"""`probforest merge`: saved forests with the same features → one saved forest."""

import argparse
import re
from typing import Any

from ..estimators.merging import merge
from ..storage.models import describe, load, save
from ..support.atomic import replacing
from .arguments import refuse_to_overwrite
from .console import Console, readable_size


def run(options: argparse.Namespace, console: Console) -> int:
    refuse_to_overwrite(options.output, options.models, overwrite=options.overwrite)
    with replacing(options.output, overwrite=options.overwrite) as temporary:
        try:
            forest = merge([load(path) for path in options.models])
        except (TypeError, ValueError) as problem:
            raise ValueError(_with_files(str(problem), options)) from None
        size = save(forest, temporary, about=_about(options))
    console.say(f"saved {options.output}: {len(forest.trees_)} trees, {readable_size(size)}")
    console.result({"model": str(options.output), "bytes": size, "trees": len(forest.trees_)})
    return 0


def _with_files(message: str, options: argparse.Namespace) -> str:
    """The message in the words of the command line: files instead of places in a list."""
    named = re.sub(r"models\[(\d+)\]", lambda found: str(options.models[int(found[1])]), message)
    return named.replace("Fit all of them with feature_model= one", "Train all of them with --feature-model and one")


def _about(options: argparse.Namespace) -> dict[str, Any]:
    """The notes of the first forest that still hold, and where the trees come from."""
    notes = [describe(path)["about"] for path in options.models]
    about: dict[str, Any] = {"merged": [path.name for path in options.models]}
    if "target" in notes[0]:
        about["target"] = notes[0]["target"]
    if all("rows" in each for each in notes):
        about["rows"] = sum(each["rows"] for each in notes)
    tables = sorted({each["table"] for each in notes if "table" in each})
    if tables:
        about["table"] = ", ".join(tables)
    return about
