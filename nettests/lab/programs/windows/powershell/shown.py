"""How emitted objects are shown, and ``ConvertTo-Json`` of 5.1 and of 6. Pure.

Strings are a line each; objects without a defined view are a table up to four properties, else a list. JSON of both versions has
the same structure in different layouts. Arrays passed as one object are ``{value, Count}`` in 5.1; values below the depth are
strings; a single object from a pipeline is no array (Stack Overflow 58617070; PowerShell/PowerShell, ``JsonObject.cs``).
"""

import json
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from nettests.lab.programs.windows.powershell import values as v

_MOST_COLUMNS = 4
_VIEWS = {"Microsoft.DnsClient.Commands.DnsRecord": (46, 6, 5, 10)}
"""Types with their own table view, and the minimum widths of its columns, from posted outputs."""
Row = dict[str, Any]


def is_plain(value: Any) -> bool:
    """Whether a value is a line of its own, not a row."""
    return not isinstance(value, v.Thing | v.Hashtable)


def rows(values: Sequence[Any], view: str = "") -> str:
    """Return objects with properties as text; ``view`` is ``table`` or ``list``, or empty for the default."""
    pages: list[Row] = []
    for value in values:
        if isinstance(value, v.Hashtable):
            pages += [{"Name": key, "Value": each} for key, each in value.items()]
        else:
            pages.append(dict(value.properties))
    if not pages:
        return ""
    names = list(pages[0])
    widths = _VIEWS.get(getattr(values[0], "kind", ""), ())
    as_table = view == "table" or (not view and (widths or len(names) <= _MOST_COLUMNS))
    return _table(names, pages, widths) if as_table else _list(pages)


def _cell(value: Any) -> str:
    return f"{{{', '.join(map(v.text, value))}}}" if isinstance(value, list) else v.text(value)


def _table(names: Sequence[str], pages: Sequence[Row], least: Sequence[int]) -> str:
    lines = [list(names), ["-" * len(name) for name in names]]
    lines += [[_cell(page.get(name)) for name in names] for page in pages]
    widths = [max(len(line[column]) for line in lines) for column in range(len(names))]
    widths = [max(pair) for pair in zip_longest(widths, least, fillvalue=0)]
    written = [
        " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n" + "".join(f"{line}\n" for line in written) + "\n\n"


def _list(pages: Sequence[Row]) -> str:
    written = "\n\n"
    for page in pages:
        width = max(map(len, page), default=0)
        written += "".join(
            f"{name.ljust(width)} : {_cell(value)}\n" for name, value in page.items()
        )
        written += "\n"
    return written + "\n\n"


_ESCAPED_IN_51 = {"'": "\\u0027", "<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def convert(value: Any, depth: int, *, compress: bool, desktop: bool) -> str:
    """Return a value as JSON."""
    simple = _simple(value, depth, desktop=desktop)
    if compress:
        return _inline(simple, desktop=desktop)
    return _laid_out(simple, 0, desktop=desktop)


def _simple(value: Any, depth: int, *, desktop: bool) -> Any:
    """Return a value in JSON types, cut at the depth."""
    if isinstance(value, str | int | float | type(None)):
        return str(value) if isinstance(value, v.Char) else value
    if isinstance(value, v.NetError | v.DotNet):
        return v.text(value)
    if depth < 0:
        return v.text(value)
    if isinstance(value, v.Wrapped) and desktop:
        inner = [_simple(each, depth - 1, desktop=desktop) for each in value]
        return {"value": inner, "Count": len(inner)}
    if isinstance(value, list):
        return [_simple(each, depth - 1, desktop=desktop) for each in value]
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, v.Thing):
        pairs = value.properties.items()
    elif isinstance(value, v.Hashtable):
        pairs = value.items()
    return {v.text(name): _simple(each, depth - 1, desktop=desktop) for name, each in pairs}


def _scalar(value: Any, *, desktop: bool) -> str:
    written = json.dumps(value, ensure_ascii=False)
    if desktop and isinstance(value, str):
        written = "".join(_ESCAPED_IN_51.get(character, character) for character in written)
    return written


def _inline(value: Any, *, desktop: bool) -> str:
    if isinstance(value, dict):
        pairs = (
            f"{_scalar(name, desktop=desktop)}:{_inline(each, desktop=desktop)}"
            for name, each in value.items()
        )
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(_inline(each, desktop=desktop) for each in value)}]"
    return _scalar(value, desktop=desktop)


def _laid_out(value: Any, column: int, *, desktop: bool) -> str:
    """Return JSON, indented as in each version: 5.1 by four from the bracket's column, 6 by two per level."""
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
