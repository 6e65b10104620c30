"""The lock files: complete, by hash, for every Python of the project, and naming no machine."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nettests.lab.__main__ import LIBRARIES

ROOT = Path(__file__).parents[2]
NAMES = ("installer", "run", "image", "development")
BROUGHT_BY_OTHERS = {"urllib3": "requests", "markupsafe": "jinja2"}
"""Modules whose values and errors a stated library hands out."""


def project() -> dict[str, Any]:
    """Return ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def locked(name: str) -> dict[str, tuple[Requirement, int]]:
    """Return what a file pins, by name, each with the number of its hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    found: dict[str, tuple[Requirement, int]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        stated, *hashes = line.split("--hash=sha256:")
        wanted = Requirement(stated.strip())
        assert all(re.fullmatch("[0-9a-f]{64} *", one) for one in hashes)
        found[canonicalize_name(wanted.name)] = (wanted, len(hashes))
    return found


def probed(name: str) -> list[Requirement]:
    """Return what a file has to satisfy."""
    stated = project()
    groups = stated["dependency-groups"]
    own = [*stated["project"]["dependencies"], *stated["project"]["optional-dependencies"]["lab"]]
    texts = {
        "installer": groups["installer"],
        "run": own,
        "image": stated["project"]["dependencies"],
        "development": [*own, *groups["test"], *groups["lint"], *groups["mutation"]],
    }[name]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_every_library_is_pinned_by_hash(name: str) -> None:
    """One version each, and at least one hash: pip and uv then refuse anything else."""
    pins = locked(name)
    assert pins
    for wanted, hashes in pins.values():
        assert str(wanted.specifier).startswith("=="), wanted
        assert hashes, wanted


@pytest.mark.parametrize("name", ["run", "image"])
def test_what_runs_has_the_versions_that_are_tested(name: str) -> None:
    """One lock: neither a user's environment nor the image has a version that no test ran with."""
    tested = locked("development")
    assert {library: pin for library, (pin, _) in locked(name).items()} == {
        library: tested[library][0] for library in locked(name)
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_the_project_requests_is_satisfied(name: str) -> None:
    """A bound that changes without ``make lock`` is found."""
    pins = locked(name)
    for wanted in probed(name):
        pin, _ = pins[canonicalize_name(wanted.name)]
        version = str(pin.specifier).removeprefix("==")
        assert wanted.specifier.contains(version), f"{wanted} against {version}: make lock"


@pytest.mark.parametrize("name", NAMES)
def test_no_index_and_no_machine_is_named(name: str) -> None:
    """Whoever installs uses an index of their own."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    assert not re.search(r"://|index|find-links|/(?:home|opt|tmp|work)/", text)


def test_every_dependency_has_two_bounds() -> None:
    """The lowest version that works, and the next one that nobody has tested."""
    for wanted in probed("run"):
        assert sorted(one.operator for one in wanted.specifier) == ["<", ">="], wanted


def test_scapy_comes_with_its_extra_alone() -> None:
    """Neither the package nor the image brings a library under the GPL (decision 0027); what a checkout installs does."""
    assert "scapy" not in locked("image")
    assert "scapy" in locked("run").keys() & locked("development").keys()
    extra = project()["project"]["optional-dependencies"]["packets"]
    assert [Requirement(text).name for text in extra] == ["scapy"]


def test_the_lab_looks_for_what_its_extra_brings() -> None:
    """A library that is added to the extra is looked for before the lab starts, by the module it is imported by."""
    stated = project()["project"]["optional-dependencies"]["lab"]
    assert {Requirement(text).name for text in stated} == set(LIBRARIES)


@pytest.mark.parametrize(
    ("folder", "extras"), [("", ()), ("lab", ("lab",)), ("wire", ("packets",))]
)
def test_what_is_imported_is_stated(folder: str, extras: tuple[str, ...]) -> None:
    """Harness, lab and the reader of captures import the libraries that their installation brings, and no other."""
    stated = project()["project"]
    texts = [text for extra in extras for text in stated["optional-dependencies"][extra]]
    known = {canonicalize_name(Requirement(one).name) for one in [*stated["dependencies"], *texts]}
    homes = packages_distributions()
    unknown = {
        module
        for module in imported(folder)
        if not known & {canonicalize_name(home) for home in homes.get(module, [])}
        and BROUGHT_BY_OTHERS.get(module) not in known
    }
    assert unknown == set()


def imported(folder: str) -> set[str]:
    """Return the top names of what a part of the package imports, but the standard library's and its own."""
    top = ROOT / "nettests" / folder
    beside = () if folder else (top / "lab", top / "wire")
    trees = [
        ast.parse(path.read_text("utf-8"))
        for path in top.rglob("*.py")
        if not any(path.is_relative_to(one) for one in beside)
    ]
    names = {
        name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
        )
    }
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"nettests"}


def test_pytest_of_a_run_knows_every_setting_of_the_project(tmp_path: Path) -> None:
    """``pytest suites`` in a checkout works without the plugins that the project's own tests need."""
    (tmp_path / "test_one.py").write_text("def test_one() -> None: ...")
    words = ("-c", ROOT / "pyproject.toml", "--collect-only", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, tmp_path],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_one" in done.stdout
