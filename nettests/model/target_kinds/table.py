"""The table of target kinds, read from ``kinds.yaml``; a missing row is an error on import."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import cattrs

from nettests.model.target_kinds.descriptor import Descriptor
from nettests.model.words import TargetKind
from nettests.model.yaml_text import read_yaml

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
