"""How programs are started on Windows nodes: one form for each hcsshim, and what ``cmd /c`` would change."""

import pytest

from nettests.model.powershell import powershell
from nettests.model.windows_programs import (
    AGNHOST,
    LONGEST,
    OPERATORS,
    QUESTION,
    ROOT,
    START_AGNHOST,
    ChangedByCmdError,
    HostStart,
    host_start,
    node_argv,
)

UNCHANGED = {
    "plain": ("ipconfig.exe", "/allcompartments", "/all"),
    "found by PATHEXT": ("pktmon", "filter", "list"),
    "operators in quotes": ("powershell.exe", "-Command", "Get-HnsNetwork | Where-Object { $_ -and 1 } & ^ <>"),
    "a path in quotes": ("cmd.exe", "/c", "type", r"C:\Program Files\containerd\*.conf*"),
    "an operator for cmd": ("cmd.exe", "/c", r"C:\opt\cni\bin\win-bridge.exe", "2>&1"),
    "the image's root": (AGNHOST, "connect", f"--file={ROOT}\\x"),
    "parentheses and commas": ("x.exe", "(a,b)", "c=d;e"),
}  # fmt: skip
CHANGED = {
    "two commands": ("curl.exe", "http://h/dial?host=a&port=1"),
    "a pipe": ("powershell.exe", "-Command", "Get-Process|Sort-Object"),
    "a redirection": ("x.exe", "<a>"),
    "an escape": ("x.exe", "a^b"),
    "an operator for another program": ("x.exe", "2>&1"),
    "a variable, quotes or not": ("x.exe", "at %PATH% in quotes"),
    "a format": ("curl.exe", "-w", "%{http_code}"),
    "a quote in quotes": ("x.exe", 'say "a & b"'),
    "a second line": ("x.exe", "one\ntwo"),
    "a name that is cut": (f"{ROOT}/agnhost.exe", "pause"),
    "a name that is split": (r"C:\Program Files\x.exe", "a"),
    "a file without an extension": (rf"{ROOT}\agnhost", "pause"),
    "too long": ("x.exe", "a" * LONGEST),
}


@pytest.mark.parametrize("words", UNCHANGED.values(), ids=UNCHANGED)
def test_what_cmd_passes_on_can_be_built(words: tuple[str, ...]) -> None:
    """A command that means the same behind ``cmd /c`` is returned as it is."""
    assert node_argv(*words) == words


@pytest.mark.parametrize("words", CHANGED.values(), ids=CHANGED)
def test_what_cmd_changes_cannot_be_built(words: tuple[str, ...]) -> None:
    """A command that cmd would split, expand or cut raises when it is built, and says what to do."""
    with pytest.raises(ChangedByCmdError, match="curl -G -d"):
        node_argv(*words)


def test_a_script_stays_readable() -> None:
    """A script is the last word as it was written, its pipes included."""
    script = "Get-HnsNetwork | ConvertTo-Json"
    assert powershell(script)[-1] == script
    with pytest.raises(ChangedByCmdError):
        powershell('Write-Output "a|b"')


def test_agnhost_is_copied_and_started_by_its_copy() -> None:
    """The command of a HostProcess container is one that nodes start, and agnhost's arguments follow it."""
    words = node_argv(*START_AGNHOST, "netexec", "--http-port=19080")
    copy, _, start = " ".join(words).partition(" && ")
    assert copy == rf"cmd.exe /c copy /y {ROOT}\agnhost {AGNHOST} >nul"
    assert start == f"{AGNHOST} netexec --http-port=19080"
    assert {">nul", "&&"} <= OPERATORS


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("C:\\hpc\r\n", HostStart(r"C:\hpc", behind_cmd=True)),
        ("c:\\hpc\\\r\n", HostStart(r"c:\hpc", behind_cmd=True)),
        ("C:\\C\\3e5f0a\r\n", HostStart(r"C:\C\3e5f0a", behind_cmd=False)),
        ("C:\\hpc\\3e5f0a\r\n", HostStart(r"C:\hpc\3e5f0a", behind_cmd=False)),
        (ROOT, None),
        ("C:\\C\r\n", None),
        (r"D:\elsewhere", None),
        ("", None),
    ],
)
def test_the_image_root_shows_how_programs_start(output: str, start: HostStart | None) -> None:
    """The three roots of hcsshim are told apart; any other text says nothing."""
    assert host_start(output) == start


def test_the_question_itself_passes_cmd() -> None:
    """A node is asked for its image root by a command that means the same either way."""
    assert node_argv(*QUESTION)
    assert (
        str(HostStart(r"C:\hpc", behind_cmd=True)) == r"image root C:\hpc, commands behind `cmd /c`"
    )
