"""Target kinds: one descriptor each, listed nowhere else.

A descriptor says who owns the target, where it is, what proves that it exists, and how it is named;
planning, probes, verdicts and reports read it. ``kinds.yaml`` has a row for each kind, and every
``match`` over a descriptor's words is exhaustive: a new word is a type error until all places
handle it, and a kind without a row fails on import. ``plan.targets`` makes targets,
``probes.addresses`` finds their addresses.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import cattrs

from nettests.model.target_kinds.descriptor import (
    Descriptor,
    Location,
    Naming,
    Owner,
    Proxy,
    ShownBy,
)
from nettests.model.words import TargetKind
from nettests.model.yaml_text import read_yaml

__all__ = ["Descriptor", "Location", "Naming", "Owner", "Proxy", "ShownBy", "descriptor"]


_FILE = "kinds.yaml"
_ROWS: Mapping[str, Any] = read_yaml(
    (files("nettests.model.target_kinds") / _FILE).read_text("utf-8"), _FILE
)[0]
_CONVERTER = cattrs.Converter(forbid_extra_keys=True)


def _whole(name: str) -> dict[str, Any]:
    row = dict(_ROWS[name])
    like = row.pop("like", None)
    return {**_whole(like), **row} if like else row


_TABLE = {kind: _CONVERTER.structure(_whole(kind.value), Descriptor) for kind in TargetKind}


def descriptor(kind: TargetKind) -> Descriptor:
    """Return the descriptor of all targets of ``kind``."""
    return _TABLE[kind]
