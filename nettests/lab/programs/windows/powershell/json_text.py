"""``ConvertTo-Json`` of Windows PowerShell 5.1 and of PowerShell 6: same shapes, other layouts. Pure.

Arrays that were one object are ``{value, Count}`` in 5.1; what lies deeper than the depth is its text; one object that came by
a pipeline is no array (Stack Overflow 58617070; PowerShell/PowerShell, ``JsonObject.cs``).
"""

import json
from collections.abc import Iterable
from typing import Any

from nettests.lab.programs.windows.powershell.values import (
    Char,
    DotNet,
    Hashtable,
    NetError,
    Thing,
    Wrapped,
    text,
)

_ESCAPED_IN_51 = {"'": "\\u0027", "<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def convert(value: Any, depth: int, *, compress: bool, desktop: bool) -> str:
    """Return a value as JSON."""
    simple = _simple(value, depth, desktop=desktop)
    if compress:
        return _inline(simple, desktop=desktop)
    return _laid_out(simple, 0, desktop=desktop)


def _simple(value: Any, depth: int, *, desktop: bool) -> Any:
    """Return a value in JSON's own types, cut at the depth."""
    if isinstance(value, str | int | float | type(None)):
        return str(value) if isinstance(value, Char) else value
    if isinstance(value, NetError | DotNet):
        return text(value)
    if depth < 0:
        return text(value)
    if isinstance(value, Wrapped) and desktop:
        inner = [_simple(each, depth - 1, desktop=desktop) for each in value]
        return {"value": inner, "Count": len(inner)}
    if isinstance(value, list):
        return [_simple(each, depth - 1, desktop=desktop) for each in value]
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Thing):
        pairs = value.properties.items()
    elif isinstance(value, Hashtable):
        pairs = value.items()
    return {text(name): _simple(each, depth - 1, desktop=desktop) for name, each in pairs}


def _scalar(value: Any, *, desktop: bool) -> str:
    written = json.dumps(value, ensure_ascii=False)
    if desktop and isinstance(value, str):
        written = "".join(_ESCAPED_IN_51.get(character, character) for character in written)
    return written


def _inline(value: Any, *, desktop: bool) -> str:
    if isinstance(value, dict):
        pairs = (
            f"{_scalar(k, desktop=desktop)}:{_inline(v, desktop=desktop)}" for k, v in value.items()
        )
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(_inline(each, desktop=desktop) for each in value)}]"
    return _scalar(value, desktop=desktop)


def _laid_out(value: Any, column: int, *, desktop: bool) -> str:
    """Indent as each version does: 5.1 by four from where the bracket stands, 6 by two in all."""
    step, gap = (4, "  ") if desktop else (2, " ")
    inner = column + step
    margin, end = "\n" + " " * inner, "\n" + " " * column
    if isinstance(value, dict) and value:
        lines = []
        for name, each in value.items():
            key = f"{_scalar(name, desktop=desktop)}:{gap}"
            at = inner + len(key) if desktop else inner
            lines.append(f"{margin}{key}{_laid_out(each, at, desktop=desktop)}")
        return f"{{{','.join(lines)}{end}}}"
    if isinstance(value, list) and value:
        lines = [f"{margin}{_laid_out(each, inner, desktop=desktop)}" for each in value]
        return f"[{','.join(lines)}{end}]"
    if isinstance(value, dict | list):
        brackets = "{}" if isinstance(value, dict) else "[]"
        return f"{brackets[0]}\n\n{' ' * column}{brackets[1]}" if desktop else brackets
    return _scalar(value, desktop=desktop)
