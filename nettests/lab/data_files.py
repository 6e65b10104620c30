"""Data of the lab in YAML files beside the modules that read them."""

from functools import cache
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML


@cache
def read_yaml(package: str, name: str) -> Any:
    """Return the document of a file in a package; callers share it and must not change it."""
    text = files(package).joinpath(name).read_text("utf-8")
    return YAML(typ="safe", pure=True).load(text)
