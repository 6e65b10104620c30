"""The JSON form of the vocabulary, both ways.

Used by the journal, the reports and the hand-over of facts to xdist workers. It knows how values are
written, not what they mean.
"""

import ipaddress
import json
from typing import Any, TypeVar

import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from nettests.model.check import Check, Control, ProbePod, Target, Vantage
from nettests.model.facts import Address, Network, NodeFacts
from nettests.model.journal_records import DiagnosticsItem
from nettests.model.member_codec import members_of_data, members_to_data
from nettests.model.observation import Observation
from nettests.model.verdict import Judgement, MembersJudged
from nettests.model.versions import KubernetesVersion, WindowsBuild

T = TypeVar("T")

_KEYS: dict[type, dict[str, str]] = {
    Check: {"action": "ask"},
    Control: {"action": "ask"},
    DiagnosticsItem: {"command_line": "asked"},
    NodeFacts: {"pool": "role"},
    Observation: {"differing_ports": "divided", "unexpected_addresses": "misled"},
    ProbePod: {"pool": "role"},
    Target: {"pool": "role"},
    Vantage: {"pool": "role"},
}
"""Fields that were renamed in code and keep their old keys in journals and ``results.json``, which others read."""

_converter = cattrs.Converter(forbid_extra_keys=False)

for _text_type, _read in (
    (ipaddress.IPv4Address, ipaddress.IPv4Address),
    (ipaddress.IPv6Address, ipaddress.IPv6Address),
    (ipaddress.IPv4Network, ipaddress.IPv4Network),
    (ipaddress.IPv6Network, ipaddress.IPv6Network),
    (KubernetesVersion, KubernetesVersion.parse),
    (WindowsBuild, WindowsBuild.parse),
):
    _converter.register_unstructure_hook(_text_type, str)
    _converter.register_structure_hook(_text_type, lambda text, _, read=_read: read(text))

_converter.register_structure_hook(Address, lambda text, _: ipaddress.ip_address(text))
_converter.register_structure_hook(Network, lambda text, _: ipaddress.ip_network(text))
_converter.register_structure_hook(
    Address | None, lambda text, _: None if text is None else ipaddress.ip_address(text)
)


_MEMBERS = override(
    omit_if_default=True,
    unstruct_hook=lambda members: members_to_data(members, _converter.unstructure),
    struct_hook=lambda data, _: members_of_data(data, _converter.structure),
)


def _overrides(kind: type) -> dict[str, Any]:
    """Return how fields of a kind are written; rare fields are left out if empty."""
    overrides: dict[str, Any] = {
        field: override(rename=key) for field, key in _KEYS.get(kind, {}).items()
    }
    if kind is Check:
        return overrides | {"members": _MEMBERS, "alike": _UNSAID}
    return overrides | dict.fromkeys(_RARE.get(kind, ()), _UNSAID)


_UNSAID = override(omit_if_default=True)
_RARE: dict[type, tuple[str, ...]] = {
    Judgement: ("members",),
    MembersJudged: ("message", "expected", "observed", "next_step", "limitation"),
}
"""Fields that most values of a kind lack: they are left out if empty."""


def _is_special(kind: Any) -> bool:
    return kind in _KEYS or kind in _RARE


_converter.register_unstructure_hook_factory(
    _is_special,
    lambda kind: make_dict_unstructure_fn(kind, _converter, **_overrides(kind)),
)
_converter.register_structure_hook_factory(
    _is_special,
    lambda kind: make_dict_structure_fn(kind, _converter, **_overrides(kind)),
)


def to_data(value: object) -> Any:
    """Return the plain JSON data (dicts, lists, texts, numbers) of a vocabulary value."""
    return _converter.unstructure(value)


def from_data(data: Any, kind: type[T]) -> T:
    """Return the ``kind`` that ``to_data`` wrote; extra keys are ignored, missing ones raise."""
    return _converter.structure(data, kind)


def to_line(value: object) -> str:
    """Return one line of JSON with sorted keys."""
    return json.dumps(to_data(value), sort_keys=True, ensure_ascii=False)
