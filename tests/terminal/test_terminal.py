"""What a cluster's texts may do to a terminal: nothing."""

import io
import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from nettests import terminal
from nettests.cli.command_group import Commands
from nettests.errors import ClusterError
from nettests.model.visible import as_line, as_paragraph, escaped_json, visible
from nettests.terminal.drawing import console

ATTACKS = {
    "colour": "\x1b[31mred",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.test\x1b\\click\x1b]8;;\x1b\\",
    "csi of C1": "\x9b2J",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "bidirectional": "\u202egnp.exe",
    "arabic letter mark": "\u061c",
    "isolate": "\u2066x\u2069",
    "carriage return": "harmless\rforged",
    "backspace": "abc\x08\x08\x08xyz",
    "tag": "\U000e0041",
    "line feed": "node-1\nnode-2: all is well",
}
OBEYED = [
    *map(chr, (*range(9), *range(11, 32), *range(127, 160))),
    *"\u061c\u200b\u200e\u202e\u2066",
]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_line_is_one_line_of_harmless_text(
    attack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name with control characters is one line in which they are named."""
    terminal.line(f"node {attack}")
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert out.endswith("\n")
    assert not [one for one in OBEYED if one in out]


@given(st.text())
def test_no_text_is_obeyed(text: str) -> None:
    """Whatever a text holds, no character that a terminal obeys is left of it."""
    for told in (as_line(text), as_paragraph(text), visible(text)):
        assert not [one for one in OBEYED if one in told]
    assert "\n" not in as_line(text)
    assert all(one.startswith("  ") for one in as_paragraph(text).split("\n")[1:])


def test_an_error_forges_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines inside an error's text are indented: none passes for a line of ours."""
    terminal.paragraph("Error: denied\nNothing blocks a run.\n  → probe", err=True)
    assert capsys.readouterr().err == "Error: denied\n  Nothing blocks a run.\n  → probe\n"


@given(st.text())
def test_json_loses_nothing(text: str) -> None:
    """In JSON the characters are escaped: programs read what the cluster said, terminals obey nothing."""
    told = escaped_json(json.dumps({"name": text}, ensure_ascii=False))
    assert json.loads(told) == {"name": text}
    assert not [one for one in OBEYED if one in told]


def test_what_is_drawn_is_text() -> None:
    """Markup, escape sequences and emoji codes in a table of rich are shown as they are."""
    out = io.StringIO()
    drawn = console(out)
    drawn.width = 200
    table = Table.grid()
    table.add_row("[red]x[/red]", "[link=http://evil.test]y[/link]", ":smile:", "\x1b]8;;h\x07z")
    table.add_row(Text("\x1b[2Jw\u202e", style="bold"))
    drawn.print(table)
    drawn.print("[bold]\x9bq")
    said = out.getvalue()
    assert "[red]x[/red][link=http://evil.test]y[/link]:smile:␛]8;;h" in said
    assert "␛[2Jw" in said
    assert "[bold]⟨U+009B⟩q" in said
    assert not [one for one in OBEYED if one in said]


def test_a_terminals_own_styles_stay() -> None:
    """Styles of our own code still colour a terminal."""
    out = io.StringIO()
    drawn = console(out)
    drawn._force_terminal = True
    drawn._color_system = None
    drawn.print("a\x1b[0mb", style="bold")
    assert out.getvalue() == "a␛[0mb\n"


class Failing(Commands):
    """Commands that fail with texts of a cluster."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return {"api": refused, "usage": misused}.get(cmd_name)


@click.command("api")
def refused() -> None:
    raise ClusterError("pods \x1b]0;owned\x07\u202e is forbidden\nNothing blocks a run.")


@click.command("usage")
def misused() -> None:
    raise click.UsageError("no \x1b[31mnode\nforged")


@click.group(cls=Failing, commands_of={"": {"api": ("", ""), "usage": ("", "")}})
def failing() -> None: ...


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["api"],
            "Error: pods ␛]0;owned␇⟨U+202E⟩ is forbidden\n  Nothing blocks a run.\n",
        ),
        (["usage"], "Error: no ␛[31mnode\n  forged\n"),
        (["--\x1b[31m"], "No such option"),
    ],
    ids=["an error of ours", "click's own", "an option"],
)
def test_errors_of_commands_are_harmless(words: list[str], told: str) -> None:
    """What a command fails with is shown by the one writer, click's own errors too."""
    shown = CliRunner().invoke(failing, words).output
    assert told in shown
    assert not [one for one in OBEYED if one in shown]


PROGRAM = r"""
import logging, sys, threading
from nettests import terminal
terminal.guard()
logging.getLogger("urllib3").warning("header \x1b]0;owned\x07")
one = threading.Thread(target=lambda: int("\x1b[31m\u202e"))
one.start()
one.join()
raise ValueError("pod \x1b[2J\x9b\u202e")
"""


def test_what_python_prints_is_harmless() -> None:
    """Tracebacks, of threads too, and warnings of libraries reach the terminal through the writer."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "header ␛]0;owned␇" in done.stderr
    assert "pod ␛[2J⟨U+009B⟩⟨U+202E⟩" in done.stderr
    assert not [one for one in OBEYED if one in done.stderr]
