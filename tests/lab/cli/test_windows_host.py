"""The lab's Windows programs as commands of this machine: in a network of their own, and in no other."""

import subprocess
import sys
from pathlib import Path

import click.testing
import pytest

from nettests.lab.errors import LabError
from scripts import windows_host

SCRIPT = (sys.executable, windows_host.__file__)
TOOL = (*SCRIPT, "windows-tool")


def closed(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a namespace of its own."""
    command = (*SCRIPT, "closed", "--", *words)
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=120, check=False
    )


def test_the_namespace_leads_nowhere() -> None:
    """It has a loopback device, to which the one route goes: that of TEST-NET-1."""
    done = closed("cat", "/proc/net/route")
    assert done.returncode == 0, done.stderr
    (route,) = [line.split() for line in done.stdout.splitlines()[1:]]
    assert route[:2] == ["lo", "000200C0"]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--set=windows.locale=de-DE", "ping.exe", "-n", "1", "127.0.0.1"), 0, "Antwort von"),
        (("--", "ping", "-n", "1", "-w", "500", "192.0.2.1"), 1, "Request timed out."),
        (("cmd.exe", "/c", "exit", "3"), 3, ""),
        (("no-such-program",), 127, "failed to find executable"),
        (("pktmon", "status"), 1, "Access is denied."),
        (("--broken=ping-code-other", "ping", "-n", "1", "127.0.0.1"), 1, "Reply from"),
    ],
)
def test_a_program_runs_as_on_a_windows_machine(
    words: tuple[str, ...], code: int, text: str
) -> None:
    """With its exit code, in the language of the settings, and broken as a fault says."""
    done = closed(*TOOL, *words)
    assert done.returncode == code, done.stderr
    assert text in done.stdout + done.stderr


def test_elsewhere_no_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network with routes leads to machines that are no business of a lab."""
    routes = tmp_path / "route"
    routes.write_text("Iface Destination Gateway\neth0 00000000 0101A8C0\n")
    monkeypatch.setattr(windows_host, "_ROUTES", routes)
    called = click.testing.CliRunner().invoke(windows_host.windows_tool, ["ping", "127.0.0.1"])
    assert isinstance(called.exception, LabError)
    assert "it has routes" in str(called.exception)
