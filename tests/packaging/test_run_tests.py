"""``make test``: every part runs, one summary closes, and no failure is lost in it."""

import sys
from pathlib import Path

import pytest

from scripts import run_tests as script

ROOT = Path(__file__).parents[2]


def pytest_part(folder: Path, text: str) -> script.Part:
    """Return a part that runs pytest over one file."""
    (folder / "test_it.py").write_text(text)
    argv = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    )
    return script.Part(name="tests", argv=argv, paths=(str(folder),), counted=True)


def test_a_part_that_fails_does_not_keep_others_from_running(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1, and the parts after the failed one ran."""
    parts = (
        script.Part(name="lint", argv=(sys.executable, "-c", "raise SystemExit(3)")),
        script.Part(name="later", argv=(sys.executable, "-c", "print('this ran')")),
    )
    monkeypatch.setattr(script, "parts_of", lambda _, everything: parts)
    assert script.main([]) == 1
    said = capfd.readouterr().out
    assert "this ran" in said
    assert "FAILED  lint" in said
    assert said.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_the_closing_line_counts_the_tests_of_all_parts(tmp_path: Path) -> None:
    """Passed, failed, errors and skipped of each pytest are added up."""
    text = """
import pytest
def test_a(): pass
def test_b(): pass
def test_c(): assert False
def test_d(): pytest.skip("no")
@pytest.fixture
def broken(): raise RuntimeError
def test_e(broken): pass
"""
    ended = script.run(pytest_part(tmp_path, text))
    assert ended.code == 1
    assert str(ended.counts) == "2 passed, 2 failed, 1 skipped"
    assert script.summary([ended, ended]).splitlines()[-1] == "4 passed, 4 failed, 2 skipped"


def test_the_summary_says_why_tests_failed(tmp_path: Path) -> None:
    """Name and reason of each failed test stand before the table: the end of a log is enough to understand it."""
    text = """
def test_a(): assert 6 * 7 == 41
def test_b():
    class Leaking:
        def __del__(self): raise ResourceWarning("unclosed <thing>")
    Leaking()
"""
    part = pytest_part(tmp_path, text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    said = script.summary([script.run(part)])
    assert "test_it::test_a" in said
    assert "assert (6 * 7) == 41" in said
    assert "ResourceWarning: unclosed <thing>" in said
    assert said.index("unclosed") < said.index("FAILED  tests")


ONCE = """
import pathlib, pytest
@pytest.mark.parametrize("case", ["a", "b@c"])
def test_once(case):
    ran = pathlib.Path(__file__).with_name(case)
    failed = not ran.exists()
    ran.touch()
    assert not failed, "not before a second try"
"""


def test_a_test_that_passes_alone_is_named_and_fails_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs once more by itself; the summary says that it is unsteady, and why it had failed."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    ended = script.run(pytest_part(tmp_path, ONCE))
    assert sorted(ended.failed) == ["test_it.py::test_once[a]", "test_it.py::test_once[b@c]"]
    assert (ended.code, str(ended.counts)) == (0, "2 passed, 0 failed, 0 skipped")
    said = script.summary([ended])
    assert said.count("UNSTEADY test_it::test_once") == 2
    assert "not before a second try" in said


def test_what_fails_again_or_much_of_it_fails_the_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that fails twice is a failure, with all that failed beside it; five are not tried again."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    ended = script.run(pytest_part(tmp_path, f"{ONCE}\ndef test_b(): assert False"))
    assert (ended.code, str(ended.counts)) == (1, "0 passed, 3 failed, 0 skipped")
    (tmp_path / "a").unlink()
    many = ONCE.replace('["a", "b@c"]', '["d", "e", "f", "g", "h"]')
    ended = script.run(pytest_part(tmp_path, many))
    assert (ended.code, len(ended.failed), ended.unsteady) == (1, 5, ())


LEFT = """
import pytest
@pytest.fixture
def clean():
    yield
    assert False, "left running"
def test_a(clean): pass
"""


@pytest.mark.parametrize("text", [LEFT, f"{ONCE}\n    pytest.exit('broken')"])
def test_what_is_left_behind_or_ends_a_run_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A second try undoes neither: the part fails."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    text = text.replace('    assert not failed, "not before a second try"\n', "")
    ended = script.run(pytest_part(tmp_path, text))
    assert ended.code
    assert ended.unsteady == ()


def test_a_group_of_workers_is_no_part_of_a_tests_id(tmp_path: Path) -> None:
    """pytest-xdist writes it behind the name; a second try takes the name that pytest knows."""
    junit = tmp_path / "junit.xml"
    junit.write_text(
        '<testsuites><testcase classname="tests.lab.test_a" name="test_b[x]@/somewhere/tests/lab/test_a.py">'
        "<error/></testcase></testsuites>"
    )
    assert script.read_failed(junit) == ("tests/lab/test_a.py::test_b[x]",)


def test_the_summary_says_which_test_files_took_longest(tmp_path: Path) -> None:
    """Times of a file's tests are added up over the JUnit file that pytest wrote, and ten are shown in order."""
    part = pytest_part(tmp_path, "def test_a(): pass\nclass TestB:\n    def test_c(self): pass")
    ended = script.run(part)
    assert sorted(name for name, _ in ended.times) == ["test_it", "test_it.TestB"]
    junit = tmp_path / "junit.xml"
    cases = "".join(
        f'<testcase classname="tests.test_{file}" name="{name}" time="{file}.5"/>'
        for file in range(12)
        for name in "ab"
    )
    junit.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    measured = script.Ended(
        part=part, code=0, seconds=1, counts=None, times=script.read_times(junit)
    )
    said = script.summary([ended, measured]).splitlines()
    slow = [line.split()[1:3] for line in said if line.startswith("slow")]
    assert slow == [[f"tests.test_{file}", str(2 * file + 1)] for file in range(11, 1, -1)]
    assert said.index(next(line for line in said if line.startswith("slow"))) < said.index(
        next(line for line in said if line.startswith("ok"))
    )


def test_no_file_is_slow_where_nothing_was_written(tmp_path: Path) -> None:
    """A pytest that was killed leaves no times."""
    assert script.read_times(tmp_path / "junit.xml") == ()


def test_a_pytest_that_was_killed_counts_as_a_failure() -> None:
    """Where nothing was counted and the exit code is not 0, the summary is not "0 failed"."""
    argv = (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    ended = script.run(script.Part(name="tests", argv=argv, counted=True))
    assert ended.counts is None
    assert script.summary([ended]).splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_every_part_of_the_project_is_in_it() -> None:
    """Lint, format, contracts, types, the copy without the lab, and the tests with it."""
    parts = script.parts_of("3", everything=False)
    words = [part.argv[:3] if part.argv[1:2] == ("-m",) else part.argv[:2] for part in parts]
    programs = [" ".join(Path(word).name for word in argv) for argv in words]
    assert programs == [
        "ruff check",
        "ruff format",
        "lint-imports",
        "mypy",
        "python -m scripts.without_lab",
        "python -m pytest",
    ]
    assert [part.argv[part.argv.index("-n") + 1] for part in parts if part.counted] == ["3", "3"]
    assert [part.argv[-1] for part in parts if part.name == "tests without the lab"] == [
        "not lab and not nightly"
    ]


def test_by_night_nothing_is_left_out() -> None:
    """Neither of what needs the lab nor of what does not."""
    parts = script.parts_of("3", everything=True)
    assert not any("nightly" in word for part in parts for word in part.argv)


def test_all_tests_of_the_lab_are_collected() -> None:
    """Its folders are those that are marked, and single files elsewhere are found by their mark."""
    paths = script.lab_paths()
    assert "tests/lab" in paths
    assert "tests/session/test_run_on_lab.py" in paths
    assert "tests/parse/test_dial.py" not in paths
    assert all((ROOT / path).exists() for path in paths)


def test_lint_runs_beside_the_first_tests(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each waits here until the other runs; what lint says comes in one piece, and the order of the summary stays."""

    def meeting(own: str, other: str) -> tuple[str, ...]:
        wait = f"""
import pathlib, time
folder = pathlib.Path({str(tmp_path)!r})
(folder / {own!r}).touch()
deadline = time.monotonic() + 20
while not (folder / {other!r}).exists():
    assert time.monotonic() < deadline
    time.sleep(0.01)
print({own!r}, 'ran')
"""
        return (sys.executable, "-c", wait)

    lint = script.Part(name="lint", argv=meeting("linted", "tested"), beside=True)
    tests = script.Part(name="tests", argv=meeting("tested", "linted"))
    ended = script.run_all([lint, tests])
    assert [(one.part.name, one.code) for one in ended] == [("lint", 0), ("tests", 0)]
    assert "== lint\nlinted ran" in capfd.readouterr().out


def test_nightly_tests_run_where_everything_is_wanted() -> None:
    """`make test` deselects them, and `make test-all` runs them."""
    day, night = (script.parts_of("2", everything=every)[-1] for every in (False, True))
    assert "lab and not nightly" in day.argv
    assert "lab" in night.argv
