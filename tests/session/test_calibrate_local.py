"""``nettests calibrate --local`` asks the tools of the machine it runs on, here the lab's Windows programs, in each language."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from nettests.cli import main

ROOT = Path(__file__).parents[2]
WORLD = Path(__file__).with_name("closed_world.py")
WORKFLOW = ROOT / ".github" / "workflows" / "calibrate.yml"
CALIBRATE = ("calibrate", "--local", "--report-dir", ".", "--json")
INSTRUMENTS = {
    *("exec", "curl", "ping", "nslookup", "resolve-dnsname", "cmd", "reg", "ipconfig"),
    *("netsh", "tasklist", "powershell", "hns"),
}
LOCALES = ("de-DE", "en-US", "es-ES", "fr-FR", "ja-JP", "ko-KR", "pt-BR", "ru-RU", "zh-CN")

pytestmark = pytest.mark.lab


def in_closed_world(
    folder: Path, *words: str, locale: str = "en-US", before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run nettests beside the tools of an emulated Windows machine, in a network of its own."""
    closed = (sys.executable, str(ROOT / "scripts" / "windows_host.py"), "closed", "--")
    command = (*closed, sys.executable, str(WORLD), *before, locale, *words)
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The instruments that a run of the command shows."""
    shown: list[dict[str, Any]] = json.loads(done.stdout)["instruments"]
    return shown


def understood(done: subprocess.CompletedProcess[str]) -> None:
    """Check the one table that there is: all is understood natively and behind cmd, and pktmon is not allowed."""
    assert done.returncode == 0, done.stdout + done.stderr
    for how in ("native", "cmd /c"):
        states = {
            (row["instrument"], row["state"]) for row in rows(done) if row["vantage"] == how
        } - {("pktmon", "open")}
        assert states == {(instrument, "understood") for instrument in INSTRUMENTS}
    remarks = json.loads(done.stdout)["remarks"]
    assert ["pktmon was not used" in remark for remark in remarks] == [True]


@pytest.mark.nightly
@pytest.mark.parametrize("locale", LOCALES)
def test_each_language_gives_the_same_table(locale: str, tmp_path: Path) -> None:
    """What is translated decides nothing."""
    understood(in_closed_world(tmp_path, *CALIBRATE, locale=locale))


@pytest.mark.nightly
def test_what_is_not_understood_is_named_and_bundled(tmp_path: Path) -> None:
    """A ping in unknown words: exit code 6, the raw text, and a bundle without names."""
    words = ("calibrate", "--local", "--report-dir", ".")
    done = in_closed_world(tmp_path, *words, locale="en-US", before=("--broken=ping-text-other",))
    assert done.returncode == 6, done.stdout + done.stderr
    for how in ("native", "cmd /c"):
        difference = f"ping on this-machine ({how}): its own loopback address was read as "
        _, shown, text = done.stdout.partition(difference)
        assert shown, done.stdout
        raw = "\n\nCvatvat 127.0.0.1 jvgu 32 olgrf bs qngn:\nErcyl sebz 127.0.0.1: "
        assert text.partition(":")[2].startswith(raw)  # Reply from, in other letters
    (bundle,) = tmp_path.glob("calibration-*/calibration-*.zip")
    assert bundle.name in done.stdout


def test_the_workflow_runs_it_on_hosted_windows(tmp_path: Path) -> None:
    """Its step is what a user runs, on both systems, on every push; what it says is kept even if it fails.

    It needs no module and no function that Python lacks on Windows, and understands Korean tools.
    """
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["strategy"]["matrix"]["system"] == ["windows-2022", "windows-2025"]
    assert "push" in workflow[True]  # YAML 1.1 reads `on` as a truth
    steps = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert steps[0] == ["python", "-m", "pip", "install", "."]
    (program, *words) = steps[-1]
    assert program == "nettests"
    done = in_closed_world(tmp_path, *words, locale="ko-KR", before=("--as-on-windows",))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pktmon was not used" in done.stdout
    kept = job["steps"][-1]
    assert kept["if"] == "always()"
    (journal,) = (tmp_path / kept["with"]["path"]).glob("calibration-*/journal.jsonl")
    assert '"record":"end"' in journal.read_text("utf-8").replace(" ", "")


def test_nothing_is_sent_from_a_machine_that_is_no_windows(tmp_path: Path) -> None:
    """A known question goes to TEST-NET: without an emulator, elsewhere, the command refuses before any of them."""
    done = CliRunner().invoke(main, ["calibrate", "--local", "--report-dir", str(tmp_path)])
    assert done.exit_code not in {0, 6}
    assert "is for Windows machines" in done.output
    assert list(tmp_path.iterdir()) == []
