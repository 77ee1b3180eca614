"""Print the oldest version of every dependency that pyproject.toml allows, as constraints for pip."""

import re
import tomllib

with open("pyproject.toml", "rb") as stream:
    settings = tomllib.load(stream)
project = settings["project"]
lists = [project["dependencies"], *project["optional-dependencies"].values(), settings["dependency-groups"]["test"]]
bounds = {each for listed in lists for each in listed if not each.startswith(project["name"])}
bounds = {re.sub(r"\[[\w,]+\]", "", each) for each in bounds}  # constraints have no extras
strange = [each for each in bounds if not re.fullmatch(r"[\w-]+>=[\d.]+", each)]
if strange:
    raise SystemExit(f"expected requirements such as name>=1.2; got {strange}")
print(*sorted(each.replace(">=", "==") for each in bounds), sep="\n")
