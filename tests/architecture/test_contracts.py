"""The tree keeps its own rules: imports, sizes, names, and nothing of the machine that wrote it."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.needs_lab import NEEDS_LAB

ROOT = Path(__file__).parents[2]
MODULE_LINES = 400
FUNCTION_LINES = 50
"""Body lines; the signature and the docstring are not counted."""
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
BINARY = {".png", ".jpg", ".gz", ".whl", ".pcap"}


@cache
def tracked() -> tuple[Path, ...]:
    """The files of the repository: those that git tracks or would."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout: there is no list of its files")
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(path for path in paths if path.is_file())


def modules(*folders: str) -> list[Path]:
    tops = tuple(ROOT / folder for folder in folders)
    return [p for p in tracked() if p.suffix == ".py" and any(p.is_relative_to(t) for t in tops)]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_imports_point_one_way() -> None:
    """import-linter finds every contract of pyproject.toml kept."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_part_of_the_harness_is_kept_from_the_lab() -> None:
    """Both contracts between harness and lab name each package and module of the harness: a new one is not forgotten."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    contracts = {
        one["name"]: one for one in tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    }
    entries = {path.relative_to(ROOT / "nettests").parts[0] for path in modules("nettests")}
    harness = {name.removesuffix(".py") for name in entries} - {"lab", "__init__", "__main__"}
    named = {f"nettests.{name}" for name in harness}
    assert set(contracts["Nothing of the harness imports the lab"]["source_modules"]) == named
    assert set(contracts["The lab imports nothing of the harness"]["forbidden_modules"]) == named


def test_modules_can_be_read_in_one_sitting() -> None:
    """No module is longer than 400 lines."""
    every = modules("nettests", "suites", "tests", "bench", "scripts")
    sizes = {relative(path): len(path.read_text("utf-8").splitlines()) for path in every}
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES} == {}


def test_functions_fit_on_a_screen() -> None:
    """No function of the package has more than 50 lines in its body."""
    long = {
        f"{relative(path)}:{function.lineno} {function.name}": size
        for path in modules("nettests", "suites")
        for function, size in functions(path)
        if size > FUNCTION_LINES
    }
    assert long == {}


def functions(path: Path) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Yield each function with the number of lines from its first statement to its end."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            yield node, (node.end_lineno or 0) - body[0].lineno + 1


def test_names_say_what_is_inside() -> None:
    """No module or folder has a name that fits anything."""
    parts = {
        (part.removesuffix(".py"), relative(path))
        for path in modules("nettests", "suites", "tests", "bench", "scripts")
        for part in path.relative_to(ROOT).parts
    }
    assert [where for part, where in parts if part in FORBIDDEN_NAMES] == []


def test_the_labs_modules_have_a_home_and_no_name_of_the_standard_library() -> None:
    """Beside its packages the lab has its door, its errors, its seams and what reads its data; none is called like a module of Python's."""
    lab = ROOT / "nettests" / "lab"
    inside = [path.relative_to(lab) for path in modules("nettests/lab")]
    loose = {path.name for path in inside if len(path.parts) == 1}
    assert loose == {"__init__.py", "__main__.py", "data_files.py", "errors.py", "interfaces.py"}
    parts = {part.removesuffix(".py") for path in inside for part in path.parts} - {"__main__"}
    assert parts & sys.stdlib_module_names == set()


def test_every_module_says_what_it_is_for() -> None:
    """Each module of package, suites and scripts opens with a docstring that is no stub."""
    silent = [
        relative(path)
        for path in modules("nettests", "suites", "scripts", "bench")
        if len(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "") < 20
    ]
    assert silent == []


def test_no_path_of_one_machine_is_committed() -> None:
    """No tracked text names a home folder or a place where somebody worked."""
    # samples: a home folder, a checkout's place, a job's folder; written apart, so as not to be found
    places = ["/ho" + "me/", "/wo" + "rk/", "/ro" + "ot/", "/tmp/" + "bash_jobs", "/op" + "t/pypi"]
    pattern = re.compile("|".join(re.escape(place) for place in places))
    found = [
        f"{relative(path)}: {match[0]}"
        for path in tracked()
        if path.suffix not in BINARY and "fixtures" not in path.parts
        for match in [pattern.search(path.read_text("utf-8", errors="replace"))]
        if match
    ]
    assert found == []


@pytest.mark.parametrize("unfinished", ["TO" + "DO", "FIX" + "ME", "XX" + "X "])
def test_nothing_is_left_for_later(unfinished: str) -> None:
    """No module carries a note about work that is not done."""
    found = [
        relative(path)
        for path in modules("nettests", "suites", "tests", "bench", "scripts")
        if unfinished in path.read_text("utf-8")
    ]
    assert found == []


def test_only_tests_that_need_the_lab_import_it() -> None:
    """A test outside the lab's folders can be collected in a tree without ``nettests/lab``."""
    importing = [
        relative(path)
        for path in modules("tests")
        if path.relative_to(ROOT / "tests").parts[0] not in NEEDS_LAB
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom) and "nettests.lab" in ast.unparse(node)
    ]
    assert importing == []
