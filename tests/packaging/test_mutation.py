"""``make mutation``: what counts as killed, which survivors are named, and what a call that goes on keeps."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts import mutation as script

ROOT = Path(__file__).parents[2]
DIFF = """# a.b: survived
--- nettests/judge/proof.py
+++ nettests/judge/proof.py
@@ -1,4 +1,4 @@
 def needs_controls(observation):
-    return  one or two
+    return one  and two
"""
KILLED, SURVIVED, UNREACHED, INTERRUPTED, LOOPS = 1, 0, 33, 2, 36


def kept(folder: Path, codes: Mapping[str, int | None], package: str = "judge") -> Path:
    """Write what mutmut keeps of mutants of one module."""
    meta = folder / "nettests" / package / "proof.py.meta"
    meta.parent.mkdir(parents=True, exist_ok=True)
    meta.write_text(json.dumps({"exit_code_by_key": codes, "durations_by_key": {}}))
    return meta


def test_a_mutant_is_killed_where_anything_noticed_it(tmp_path: Path) -> None:
    """Tests that fail, never end or crash; not those that pass, nor where no test comes, nor what was interrupted."""
    codes = {"a": KILLED, "b": SURVIVED, "c": UNREACHED, "d": INTERRUPTED, "e": None, "f": LOOPS}
    kept(tmp_path, codes)
    found = script.read_mutants(tmp_path)
    assert [one.name for one in found if one.tested] == ["a", "b", "c", "f"]
    assert [one.name for one in found if one.survived] == ["b", "c"]
    tested = [one for one in found if one.tested]
    assert script.killed_share(tested) == 50.0
    assert script.killed_share([]) == 0.0


def test_the_table_counts_each_package_and_all(tmp_path: Path) -> None:
    """Explained survivors are still none that were killed."""
    kept(tmp_path, {"a": KILLED, "b": SURVIVED, "c": None})
    kept(tmp_path, {"d": KILLED}, "parse")
    lines = script.table(script.read_mutants(tmp_path), {"b": "it is the same"}).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["judge"] == ["3", "2", "1", "1", "1", "50.0", "%"]
    assert rows["parse"] == ["1", "1", "1", "0", "0", "100.0", "%"]
    assert rows["total"] == ["4", "3", "2", "1", "1", "66.7", "%"]


def test_a_survivor_is_told_by_its_change() -> None:
    """Not by mutmut's number, which changes with any line above it in the function."""
    name = "nettests.judge.proof.x_needs_controls__mutmut_7"
    assert script.described(name, DIFF) == (
        "nettests.judge.proof.needs_controls: return one or two → return one and two"
    )
    method = "nettests.judge.distrust.xǁNotStartedǁnext_step__mutmut_1"
    assert script.described(method, DIFF).startswith(
        "nettests.judge.distrust.NotStarted.next_step: "
    )


@pytest.mark.parametrize(
    ("codes", "reasons", "code", "told"),
    [
        ({"a": KILLED}, {}, 0, ""),
        ({"a": KILLED, "b": SURVIVED}, {}, 1, "survivor  b\n          changed b"),
        ({f"k{n}": KILLED for n in range(19)} | {"b": SURVIVED}, {}, 1, "survivor  b"),
        ({f"k{n}": KILLED for n in range(19)} | {"b": SURVIVED}, {"changed b": "equal"}, 0, ""),
        ({f"k{n}": KILLED for n in range(18)} | {"b": SURVIVED}, {"changed b": "equal"}, 1, ""),
        ({"a": KILLED}, {"gone": "equal"}, 1, "explained, and no survivor: gone"),
        ({"a": KILLED, "b": None}, {"gone": "equal"}, 0, ""),
    ],
    ids=["all", "half", "unexplained", "explained", "too few", "stale", "not all"],
)
def test_what_ends_it_with_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    codes: dict[str, int | None],
    reasons: dict[str, str],
    code: int,
    told: str,
) -> None:
    """A survivor without a reason, fewer than 95 % killed, and a reason for what is no survivor any more."""
    kept(tmp_path, codes)
    file = tmp_path / "mutation.yaml"
    groups = [{"reason": reason, "mutants": [one]} for one, reason in reasons.items()]
    file.write_text(json.dumps(groups))
    monkeypatch.setattr(script, "EXPLAINED", file)
    monkeypatch.setattr(script, "shown", lambda mutant: f"changed {mutant.name}")
    assert script.report(script.read_mutants(tmp_path), whole=True) == code
    said = capsys.readouterr().out
    assert told in said
    assert ("survivor" in said.replace("no survivor", "")) is ("survivor  " in told)


def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    """Whatever the order in which mutants were kept; another seed takes others."""
    names = [f"m{number:03}" for number in range(100)]
    kept(tmp_path, dict.fromkeys(names))
    mutants = script.read_mutants(tmp_path)
    once = script.sampled(mutants, 10, 1)
    assert script.sampled(reversed(mutants), 10, 1) == once
    assert script.sampled(mutants, 10, 2) != once
    assert len(once) == 10
    assert len(script.sampled(mutants, 1000, 1)) == 100


def test_changed_tests_are_tested_about_survivors_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was killed stays so; a fresh start forgets all of it."""
    codes: dict[str, int | None] = {"a": KILLED, "b": SURVIVED, "c": UNREACHED, "d": INTERRUPTED}
    monkeypatch.setattr(script, "MUTANTS", tmp_path / "mutants")
    meta = kept(tmp_path / "mutants", codes)
    monkeypatch.setattr(script, "digest_of_tests", lambda: "one")
    script.prepare(fresh=False)
    script.prepare(fresh=False)
    assert json.loads(meta.read_text())["exit_code_by_key"] == codes
    monkeypatch.setattr(script, "digest_of_tests", lambda: "two")
    script.prepare(fresh=False)
    left = json.loads(meta.read_text())
    assert left["exit_code_by_key"] == {"a": KILLED, "b": None, "c": None, "d": None}
    assert left["durations_by_key"] == {}
    script.prepare(fresh=True)
    assert not meta.exists()


def test_a_budget_is_read() -> None:
    """Seconds, minutes or hours."""
    assert [script.seconds_of(text) for text in ("90s", "10m", "1.5h")] == [90, 600, 5400]


def test_what_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt is enough for most; whoever ignores it is killed with all that it started."""
    monkeypatch.setattr(script, "GRACE_SECONDS", 0.2)
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", deaf], stdout=subprocess.PIPE, start_new_session=True
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        script.interrupt(running)
        assert running.wait() == -9


def test_every_reason_is_written() -> None:
    """No survivor is excused by an empty text, and none twice."""
    text = script.EXPLAINED.read_text("utf-8")
    found = script.explained(text)
    assert all(len(reason.split()) > 3 for reason in found.values())
    assert text.count("\n    - ") == len(found)
    assert all(
        one.startswith(("nettests.judge.", "nettests.expect.", "nettests.parse.")) for one in found
    )
