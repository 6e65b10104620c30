"""Data of the lab that stands in YAML files beside the modules that read it."""

from functools import cache
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML


@cache
def read_yaml(package: str, name: str) -> Any:
    """Return the document of a file in a package; readers share it and leave it as it is."""
    text = files(package).joinpath(name).read_text("utf-8")
    return YAML(typ="safe", pure=True).load(text)
