"""A published report compared with one recomputed from the journal → every difference. Pure.

Last step of ``conformance``. Nothing in the published report is trusted, not even sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nettests.conformance.report_page import API_VERSION, KIND
from nettests.conformance.vendor_profile import VendorProfile, read_vendor_profile
from nettests.errors import PathError
from nettests.model.yaml_text import read_yaml

NAMES = ("name", "check", "file", "subject")
"""Keys that identify the items of a list; other items are identified by index."""
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A place in the report, with the stated and the recomputed value."""

    place: str
    stated: str
    recomputed: str

    def __str__(self) -> str:
        return f"{self.place}: stated {self.stated}, recomputed {self.recomputed}"


def read_report(text: str, file: str) -> Mapping[str, Any]:
    """Return the data of a report; ``ManifestError`` or ``PathError`` for anything else."""
    data, _ = read_yaml(text, file)
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise PathError(
            f"{file} is not a conformance report",
            hint=f"name a YAML document of kind {KIND}; nettests conformance writes one",
        )
    if data.get("apiVersion") != API_VERSION:
        raise PathError(
            f"{file} has apiVersion {data.get('apiVersion')!r}, and this version of nettests reads {API_VERSION}",
            hint="verify it with the version of nettests that it names",
        )
    return data


def profile_in(report: Mapping[str, Any], file: str) -> VendorProfile:
    """Return the vendor profile in a report; ``ManifestError`` if it is invalid.

    ``PathError`` if it has files of the vendor's own, which a report does not contain.
    """
    text = report.get("profile")
    if not isinstance(text, str):
        raise PathError(f"{file} carries no profile", hint="name it with --vendor-profile FILE")
    profile = read_vendor_profile(text, f"the profile in {file}")
    if profile.has_own_files:
        raise PathError(
            f"{file} rests on suites or limitations of the vendor's own",
            hint="name the profile that brings them: --vendor-profile FILE",
        )
    return profile


def mismatches(stated: Mapping[str, Any], recomputed: Mapping[str, Any]) -> tuple[Mismatch, ...]:
    """Return where two documents differ, in the recomputed one's order."""
    return tuple(_of_maps(stated, recomputed, ""))


def _differ(stated: Any, recomputed: Any, place: str) -> Iterator[Mismatch]:
    if isinstance(stated, Mapping) and isinstance(recomputed, Mapping):
        yield from _of_maps(stated, recomputed, place)
    elif isinstance(stated, list) and isinstance(recomputed, list):
        names = _named(stated), _named(recomputed)
        yield from _of_maps(*names, place)
        if [*names[0]] != [*names[1]] and names[0].keys() == names[1].keys():
            yield Mismatch(place, "another order", "this order")
    elif stated != recomputed or type(stated) is not type(recomputed):
        yield Mismatch(place, _brief(stated), _brief(recomputed))


def _of_maps(
    stated: Mapping[Any, Any], recomputed: Mapping[Any, Any], place: str
) -> Iterator[Mismatch]:
    for key in dict.fromkeys((*recomputed, *stated)):
        here = f"{place}.{key}" if place else str(key)
        if key in stated and key in recomputed:
            yield from _differ(stated[key], recomputed[key], here)
        else:
            words = [_brief(of[key]) if key in of else ABSENT for of in (stated, recomputed)]
            yield Mismatch(here, words[0], words[1])


def _named(items: Sequence[Any]) -> dict[str, Any]:
    """Return a list's items by name; repeated names include the index."""
    by_name: dict[str, Any] = {}
    for index, item in enumerate(items):
        name = str(item) if isinstance(item, str | int) else str(index)
        if isinstance(item, Mapping):
            name = next((str(item[key]) for key in NAMES if key in item), name)
        by_name[f"{name}#{index}" if name in by_name else name] = item
    return by_name


def _brief(value: Any) -> str:
    """Return a value in a few words; of a list or mapping only the size."""
    if isinstance(value, Mapping):
        return f"an entry of {len(value)} keys"
    return f"a list of {len(value)}" if isinstance(value, list) else repr(value)
