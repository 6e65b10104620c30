"""How objects are shown that a script leaves at its end: texts a line each, others as a table or a list. Pure.

A table is shown of up to four properties, else a list, as Format-Table and Format-List are chosen where no view is defined.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from nettests.lab.programs.windows.powershell.values import Hashtable, Thing, text

_MOST_COLUMNS = 4
_VIEWS = {"Microsoft.DnsClient.Commands.DnsRecord": (46, 6, 5, 10)}
"""Types with a table of their own, and the least widths of its columns, as posted outputs show them."""
Row = dict[str, Any]


def is_plain(value: Any) -> bool:
    """Whether a value is a line of its own, not a row."""
    return not isinstance(value, Thing | Hashtable)


def rows(values: Sequence[Any], view: str = "") -> str:
    """Return objects with properties as text; ``view`` is ``table`` or ``list``, or empty for the usual one."""
    pages: list[Row] = []
    for value in values:
        if isinstance(value, Hashtable):
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
    return (
        "{" + ", ".join(text(each) for each in value) + "}"
        if isinstance(value, list)
        else text(value)
    )


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
