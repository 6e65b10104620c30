"""The limitation entries that a forecast names: each one's statement, file and line. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.expect import Manifest
from nettests.model.expectation import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A limitation manifest's entry that the forecast names."""

    id: str
    summary: str
    place: str
    sources: tuple[Source, ...] = ()
    settled_by: str = ""


def entries_of(manifests: Iterable[Manifest], named: set[str]) -> Iterator[Entry]:
    """Yield those that are named, in the order of the manifests."""
    for manifest in manifests:
        for entry in manifest.limitations:
            if entry.id in named and not entry.part:
                yield Entry(
                    id=entry.id,
                    summary=entry.summary,
                    place=entry.place,
                    sources=entry.sources,
                    settled_by=entry.settled_by,
                )
