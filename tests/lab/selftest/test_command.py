"""``nettests lab selftest`` as a user runs it: a lab, a healthy run, a fault, the matrix."""

import json
from pathlib import Path

import pytest

from tests.lab.running import lab_command

FAULT = "dns-tcp-lost"
PROFILE = "win2022-l2bridge-dsr"


@pytest.mark.timeout(1200)
@pytest.mark.nightly
def test_one_fault_is_run_judged_written_and_not_run_again(tmp_path: Path) -> None:
    """Its must turns red, the DNS is named, the lab is whole again; judged anew it is the same but for saying so, and done."""
    folder = tmp_path / "selftest"
    folder.mkdir()
    words = ("selftest", f"--fault={FAULT}", f"--profile={PROFILE}", f"--resume={folder}")
    first = lab_command(*words, "--quick", "--budget=15m", "--json", runtime=tmp_path, timeout=1000)
    assert first.returncode == 0, first.stdout + first.stderr
    document = json.loads(first.stdout)
    (one,) = document["faults"]
    assert (one["fault"], one["verdict"], one["left"]) == (FAULT, "detected", [])
    assert one["selected"]
    assert "dns" in one["cause"].lower()
    assert ["dns-via-service", 2, 4] in one["turned"]
    for name in ("selftest.json", "selftest.html", "selftest.md"):
        assert FAULT in (folder / name).read_text("utf-8")
    anew = lab_command(*words, "--rejudge", "--json", runtime=tmp_path)
    assert json.loads(anew.stdout)["faults"] == [{**one, "rejudged": True}], anew.stderr
    again = lab_command(*words, "--budget=1s", runtime=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "1 of 1 faults run · 1 of 1 detected" in again.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault=dns-dwon"], 'Did you mean "dns-down"?'),
        (["--profile=linux"], 'No named fault is for the profile "linux".'),
        (["--resume=nowhere-at-all"], "There is no folder nowhere-at-all to go on with."),
        (["--budget=soon"], "a time is 90s, 20m or 3h"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    """Before any lab is begun."""
    done = lab_command("selftest", *words, runtime=tmp_path)
    assert done.returncode in {1, 2}
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_named_faults_are_listed(tmp_path: Path) -> None:
    """With their profiles, what is broken, and why some are blind."""
    listed = lab_command("selftest", "--list", "--fault=packets-reordered", runtime=tmp_path)
    assert listed.stdout.splitlines()[0] == f"packets-reordered  {PROFILE}"
    assert "blind: TCP puts its segments in order again" in listed.stdout
