"""Check references between entries: duplicate ids, and overrides and cancels of entries that do not exist.

Applied to all manifests that are read together. ``resolve`` raises the first mistake, ``lint`` lists them all.
"""

from collections.abc import Iterator, Mapping, Sequence

from nettests.errors import ManifestError
from nettests.expect.manifest import Limitation


def mistakes(entries: Sequence[Limitation]) -> Iterator[ManifestError]:
    """Yield an error for each id that is defined twice and each reference that cannot be."""
    known: dict[str, Limitation] = {}
    for entry in (one for one in entries if not one.part):
        if entry.id in known:
            yield ManifestError(
                f"limitation {entry.id} is defined twice: {known[entry.id].place} and {entry.place}",
                hint="a higher layer overrides with another id and overrides: [id]",
            )
        known.setdefault(entry.id, entry)
    for entry in entries:
        yield from _bad_references(entry, known)


def _bad_references(entry: Limitation, known: Mapping[str, Limitation]) -> Iterator[ManifestError]:
    for name in (*entry.overrides, *entry.cancels):
        other = known.get(name)
        if other is None:
            yield ManifestError(f"{entry.place}: {entry.id} names {name}, unknown here")
        elif other.layer >= entry.layer:
            yield ManifestError(
                f"{entry.place}: {entry.id} cannot override {name} ({other.place}): "
                "only a higher layer overrides a lower one"
            )
