"""The version, which pyproject.toml, the commands and saved models read here."""

VERSION = "0.2.0"
