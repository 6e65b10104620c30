"""Parse foreign JSON within limits, so that neither its depth nor its size can crash the process.

Errors are ``ValueError``, as in ``json``.
"""

import json
from math import isfinite
from typing import Any

from nettests.model import limits
from nettests.model.limits import TooMuchError, spelled

Object = dict[str, Any]
"""A JSON object."""


def read_json(text: str | bytes, *, most: int = limits.JSON_BYTES) -> Any:
    """Parse ``text``; ``ValueError`` if it is not JSON, ``TooMuchError`` beyond a limit."""
    if len(text) > most:
        raise TooMuchError(f"it is larger than {spelled(most)}")
    try:
        loaded = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise _too_deep() from None
    brackets = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    # Most texts have too few brackets to be deep and need no walk.
    if sum(map(text.count, brackets)) > limits.DEPTH:  # type: ignore[arg-type]
        _bound_depth(loaded)
    return loaded


def _finite(spelled_number: str) -> float:
    """Parse a number; reject ``NaN``, ``Infinity`` and numbers that overflow (``1e999``)."""
    number = float(spelled_number)
    if not isfinite(number):
        raise ValueError(f"{spelled_number} is not a number")
    return number


def _bound_depth(loaded: Any) -> None:
    level, depth = ([loaded] if isinstance(loaded, dict | list) else []), 0
    while level:
        depth += 1
        if depth > limits.DEPTH:
            raise _too_deep()
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]


def _too_deep() -> TooMuchError:
    return TooMuchError(f"it is nested more than {limits.DEPTH} levels deep")
