"""What ships with this package: the paths of suites and manifests, and the tables of texts beside modules.

In a checkout suites and manifests are top-level folders beside the package; in an installed wheel they are in
``nettests/_bundled``.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from nettests.errors import NettestsError

_PACKAGE = Path(__file__).resolve().parent


def suites_path() -> Path:
    """Return the folder of the shipped suites, one module per flow family."""
    return _shipped("suites")


def manifests_path() -> Path:
    """Return the folder of the shipped manifests (``limitations/`` and others below it)."""
    return _shipped("manifests")


@cache
def schema_of(name: str) -> Mapping[str, Any]:
    """Return the published JSON Schema of a kind of document that users write."""
    path = manifests_path() / "schema" / f"{name}.schema.json"
    schema: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return schema


def _shipped(name: str) -> Path:
    # A wheel's own files come first: site-packages may hold somebody else's folder called "suites".
    places = [_PACKAGE / "_bundled" / name, _PACKAGE.parent / name]
    for place in places:
        if place.is_dir():
            return place
    raise NettestsError(
        f"the shipped {name} were not found; looked in {places[0]} and {places[1]}",
        hint="reinstall nettests: its files are incomplete",
    )


def lines_of(package: str, name: str) -> Iterator[str]:
    """Yield the lines of a text of a package, without its comments."""
    for line in (files(package) / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def rows_of(package: str, name: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a text of a package: blocks of ``key: value`` between empty lines."""
    for block in (files(package) / name).read_text("utf-8").split("\n\n"):
        pairs = [line.partition(": ") for line in block.splitlines() if line[:1] not in {"", "#"}]
        if pairs:
            yield {key: value for key, _, value in pairs}
