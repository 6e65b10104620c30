"""Check references between entries: duplicate ids, and overrides and cancels of entries that do not exist.

Applied to all manifests that are read together. ``resolve`` raises the first mistake, ``lint`` lists them all.
"""

from collections.abc import Iterator, Mapping, Sequence

from nettests.errors import ManifestError
from nettests.expect.manifest import Limitation


def mistakes(entries: Sequence[Limitation]) -> Iterator[ManifestError]:
    """Yield an error for each duplicate id and each invalid reference."""
    limitations: dict[str, Limitation] = {}
    for entry in (entry for entry in entries if not entry.part):
        if entry.id in limitations:
            yield ManifestError(
                f"limitation {entry.id} is defined twice: {limitations[entry.id].place} and {entry.place}",
                hint="a higher layer overrides with another id and overrides: [id]",
            )
        limitations.setdefault(entry.id, entry)
    for entry in entries:
        yield from _bad_references(entry, limitations)


def _bad_references(
    entry: Limitation, limitations: Mapping[str, Limitation]
) -> Iterator[ManifestError]:
    for name in (*entry.overrides, *entry.cancels):
        other = limitations.get(name)
        if other is None:
            yield ManifestError(f"{entry.place}: {entry.id} names {name}, unknown here")
        elif other.layer >= entry.layer:
            yield ManifestError(
                f"{entry.place}: {entry.id} cannot override {name} ({other.place}): "
                "only a higher layer overrides a lower one"
            )
