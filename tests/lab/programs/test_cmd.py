"""``cmd /c``: how it reads a line, what it does itself, and what its exit code is."""

import pytest

from nettests.lab.programs.windows.cmd_line import commanded, commands, expanded
from nettests.lab.topology import Shim
from tests.lab.programs.test_starting import NO_PATH, NOT_FOUND, Outcome, host, started

DIRECT = Shim(minor=9)
"""No cmd but the one that a test starts."""


def cmd(line: str, **environment: str) -> Outcome:
    """Run a line behind cmd, each blank of which separates words."""
    return started(host(DIRECT), "cmd", "/c", *line.split(" "), environment=environment or None)


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("echo a  b", Outcome(0, 'a "" b\r\n', "")),
        ("echo a&echo b", Outcome(0, "a\r\nb\r\n", "")),
        ("echo a^&b", Outcome(0, "a&b\r\n", "")),
        ("echo a>nul&&echo b", Outcome(0, "b\r\n", "")),
        ("exit 3", Outcome(3, "", "")),
        ("exit -1", Outcome(4294967295, "", "")),
        ("exit /b 7&echo a", Outcome(7, "", "")),
        ("nosuch a", Outcome(1, "", NOT_FOUND.format("nosuch"))),
        ("nosuch 2>nul||echo b", Outcome(0, "b\r\n", "")),
        ("nosuch 2>nul&&echo b", Outcome(1, "", "")),
        ("nosuch&echo b", Outcome(0, "b\r\n", NOT_FOUND.format("nosuch"))),
        ("nosuch 2>&1", Outcome(1, NOT_FOUND.format("nosuch"), "")),
        (r"C:\nosuch\a", Outcome(1, "", NO_PATH)),
        (r"C:\Windows\nosuch", Outcome(1, "", NOT_FOUND.format(r"C:\Windows\nosuch"))),
        ("hostname/x", Outcome(0, "win-1\r\n", "")),
        ("hostname|hostname", Outcome(0, "win-1\r\n", "")),
        ("copy nosuch.exe b", Outcome(1, "", "The system cannot find the file specified.\r\n")),
        (
            r"copy C:\Windows\System32\ping.exe C:\nosuch\a.exe",
            Outcome(1, "        0 file(s) copied.\r\n", NO_PATH),
        ),
        (
            r"copy C:\Windows\System32\ping.exe C:\Windows",
            Outcome(0, "        1 file(s) copied.\r\n", ""),
        ),
        ("for %i in (a) do echo", Outcome(1, "", "The lab's cmd does not know 'for'.\r\n")),
        ("echo a>b.txt", Outcome(1, "", "The lab's cmd writes no file (b.txt).\r\n")),
        ("set no", Outcome(1, "", "Environment variable no not defined\r\n")),
        ("echo " + "x" * 8200, Outcome(1, "", "The command line is too long.\r\n")),
    ],
)
def test_cmd_runs_a_line(line: str, outcome: Outcome) -> None:
    """The last command's exit code counts, and a program that is missing is 1."""
    assert cmd(line) == outcome


@pytest.mark.parametrize(
    ("switch", "printed"), [("/v:on", "1 0 .\r\n"), ("/d", "!errorlevel! !nosuch!.\r\n")]
)
def test_variables_between_exclamation_marks_are_read_when_a_command_runs(
    switch: str, printed: str
) -> None:
    """With ``/v:on`` alone; ``errorlevel`` is what the command before it ended with, and an unknown variable is empty."""
    if switch == "/v:on":
        line = "nosuch 2>nul& echo !errorlevel! 0 !nosuch!."
    else:
        line = "hostname >nul& echo !errorlevel! !nosuch!."
    assert started(host(DIRECT), "cmd.exe", switch, "/c", line).stdout == printed


def test_a_url_with_an_ampersand_is_two_commands() -> None:
    """A word without blanks gets no quotes, so that cmd reads its ampersand."""
    outcome = started(host(Shim(minor=12)), "hostname.exe", "http://h/dial?host=a&port=1")
    assert outcome == Outcome(1, "win-1\r\n", NOT_FOUND.format("port"))
    quoted = started(host(Shim(minor=12)), "hostname.exe", "h ost&port")
    assert quoted == Outcome(0, "win-1\r\n", "")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("%A%-%a%-%B%", "1-1-%B%"),
        ('"%A%" 100%', '"1" 100%'),
        ("a\nb %A%", "a"),
        ("%{b} %", "%{b} %"),
    ],
)
def test_variables_are_replaced_in_quotes_too(text: str, read: str) -> None:
    """Whatever the case of their names; what follows a line feed is dropped, unknown variables stay."""
    assert expanded(text, {"a": "1"}) == read


@pytest.mark.parametrize(
    ("tail", "text"),
    [
        (" /c a b", "a b"),
        (" /D /S /C a", "a"),
        (" /c", ""),
        (" a", None),
        (r' /c "C:\a b.exe"', r'"C:\a b.exe"'),
        (r' /s /c "C:\a b.exe"', r"C:\a b.exe"),
        (r' /c "C:\a b.exe" "c d"', r'C:\a b.exe" "c d'),
        (r' /c "C:\no file"', r"C:\no file"),
        (r' /c "C:\a b.exe&"', r"C:\a b.exe&"),
    ],
)
def test_outer_quotes_are_kept_around_one_file_alone(tail: str, text: str | None) -> None:
    """Else the first and the last quote of a line that begins with one are dropped (Microsoft, cmd)."""
    assert commanded(tail, lambda name: name == r"C:\a b.exe") == text


@pytest.mark.parametrize(
    ("text", "operators", "targets"),
    [
        ('a "b & c" & d', ["", "&"], []),
        ("a && b || c | d", ["", "&&", "||", "|"], []),
        ('a ">" b >nul 2>&1', [""], ["nul", "&1"]),
        ("a x2>nul", [""], ["nul"]),
        ("a ^>nul", [""], []),
        ("a <nul", [""], ["nul"]),
    ],
)
def test_operators_and_redirections_count_outside_of_quotes(
    text: str, operators: list[str], targets: list[str]
) -> None:
    """A caret takes the next character's meaning away."""
    found = commands(text)
    assert [each.operator for each in found] == operators
    assert [target for part in found for _, target in part.redirections] == targets


def test_path_and_extensions_say_which_file_a_name_starts() -> None:
    """An extension that is empty lets files without one start, as a well-known workaround does."""
    root = host(DIRECT).shim.root("c0ffee")
    assert cmd("agnhost --version", PATH=root).code == 1
    assert cmd("agnhost --version", PATH="C:\\", PATHEXT=".EXE;").stdout.startswith("app version")
    assert (
        cmd("where ping.exe", PATH=r"C:\Windows\System32").stdout
        == "C:\\Windows\\System32\\ping.exe\r\n"
    )
