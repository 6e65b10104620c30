"""The paths of the suites and manifests that ship with this package.

In a checkout they are top-level folders beside the package; in an installed wheel they are in ``nettests/_bundled``.
Nothing is read here.
"""

from pathlib import Path

from nettests.errors import NettestsError

_PACKAGE = Path(__file__).resolve().parent


def suites_path() -> Path:
    """Return the folder of the shipped suites, one module per flow family."""
    return _shipped("suites")


def manifests_path() -> Path:
    """Return the folder of the shipped manifests (``limitations/`` and others below it)."""
    return _shipped("manifests")


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
