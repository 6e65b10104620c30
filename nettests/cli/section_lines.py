"""What people read after runs → lines of a terminal, bounded: for ``nettests diff``, ``forecast`` and ``history``."""

from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from nettests.compare.sections import NAMED, Overview, Section
from nettests.model.visible import as_line, plural
from nettests.outside_files import path_error
from nettests.plugin.reporter import STYLE
from nettests.private import write_text
from nettests.terminal.drawing import console

SHOWN = 12
"""Items of a section on a terminal."""


def tell(
    overview: Overview,
    elsewhere: str,
    *,
    quiet: bool = False,
    shown: int = SHOWN,
    line_style: str = "",
) -> None:
    """Print an overview; ``elsewhere`` says where the rest can be read, ``line_style`` is that of its first lines."""
    drawn = console(soft_wrap=True)
    if not quiet:
        for line in overview.lines:
            drawn.print(Text(as_line(line), style=line_style))
        for note in overview.notes:
            drawn.print(Text(as_line(f"{overview.note_word}: {note}"), style="yellow"))
        for section in overview.sections:
            drawn.print(Text(""))
            drawn.print(Text(as_line(f"{section.title} ({section.size})"), style="bold"))
            for text in _lines(section, elsewhere, shown):
                drawn.print(text)
        drawn.print(Text(""))
    for sentence in overview.closing:
        drawn.print(Text(as_line(sentence)))
    drawn.print(Text(as_line(overview.headline), style="bold"))


def _lines(section: Section, elsewhere: str, shown: int) -> Iterator[Text]:
    if section.lead:
        yield Text(as_line(f"  {section.lead}"), style="dim")
    for item in section.items[:shown]:
        style = STYLE[item.verdict] if item.verdict else "default"
        head = Text(as_line(f"  {item.head}"), style=style)
        several = len(item.names) > 1
        name = plural(len(item.names), "check") if several else item.names[0]
        yield head.append(as_line(f"  {name}"), style="default")
        yield from (Text(as_line(f"      {line}"), style="dim") for line in item.lines if line)
        if several:
            yield from (Text(as_line(f"      {each}")) for each in item.names[:NAMED])
        if len(item.names) > NAMED:
            yield Text(f"      … and {len(item.names) - NAMED} more")
    if (more := len(section.items) - shown) > 0:
        yield Text(f"  … and {plural(more, 'more item')}: {elsewhere}")


def write_page(file: Path, text: str) -> None:
    """Write a page or another file that a command was told to write; ``PathError`` where it cannot be written."""
    with path_error(file, "written", "name a file in a folder of your own"):
        write_text(file, text)
