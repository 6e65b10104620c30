"""The built wheel works outside the checkout: everything that a run needs travels in it."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging.environments import ROOT, Installed, install


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout with the build backend at hand."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", f"--wheel-dir={folder}", str(ROOT)]
    subprocess.run(command, check=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """``pip install 'nettests[lab]'``."""
    home, outside = (tmp_path_factory.mktemp(name) for name in ("environment", "outside"))
    return install(wheel, home, outside, "lab")


@pytest.fixture(scope="session")
def harness(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """``pip install nettests``: without the lab's libraries."""
    home, outside = (tmp_path_factory.mktemp(name) for name in ("harness", "outside"))
    return install(wheel, home, outside)


def test_it_is_the_wheel_that_runs(installed: Installed) -> None:
    """The package is imported from the environment, not from the checkout."""
    done = installed.run("-c", "import nettests; print(nettests.__file__)")
    assert done.stdout.startswith(str(installed.python.parents[1])), done.stderr


def test_the_wheel_holds_every_shipped_file(wheel: Path) -> None:
    """Suites, manifests, lab profiles, schemas and templates are in it, tests are not."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("suites", "manifests"):
        shipped = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".yaml"}]
        bundled = {f"nettests/_bundled/{path.relative_to(ROOT)}" for path in shipped}
        assert bundled
        assert bundled <= names
    data = [p for p in (ROOT / "nettests").rglob("*") if p.is_file() and p.suffix not in {".pyc"}]
    assert {str(path.relative_to(ROOT)) for path in data} <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "scripts/"))]


def test_the_command_tells_its_version(installed: Installed) -> None:
    """``nettests --version`` names the wheel's version."""
    done = installed.nettests("--version")
    assert done.returncode == 0, done.stderr
    assert "0.1.0" in done.stdout


def test_kubectl_finds_its_programs(harness: Installed) -> None:
    """The wheel brings what kubectl runs for ``kubectl nettests``, and what completes it."""
    programs = harness.python.parent
    shown = harness.run(str(programs / "kubectl-nettests"), "plan", "--help")
    assert shown.stdout.startswith("Usage: kubectl nettests plan [OPTIONS]"), shown.stderr
    completed = harness.run(str(programs / "kubectl_complete-nettests"), "pref")
    assert completed.stdout.startswith("preflight\t"), completed.stderr


def test_it_lists_the_lab_profiles(installed: Installed) -> None:
    """Every profile travels in the wheel."""
    done = installed.nettests("lab", "profiles")
    assert done.returncode == 0, done.stderr
    for profile in (ROOT / "manifests" / "lab").glob("*.yaml"):
        assert profile.stem in done.stdout


def test_suites_and_manifests_are_found_and_valid(installed: Installed) -> None:
    """The bundled suites declare flows and the bundled limitation manifests can be read."""
    program = """
from nettests.expect import read_manifest
from nettests.plan import load
from nettests.resources import manifests_path, suites_path
assert "_bundled" in str(suites_path()), suites_path()
files = sorted((manifests_path() / "limitations").rglob("*.yaml"))
entries = sum(len(read_manifest(f.read_text("utf-8"), str(f)).limitations) for f in files)
print(len(load([suites_path()]).flows), entries)
"""
    done = installed.run("-c", program)
    assert done.returncode == 0, done.stderr
    flows, entries = map(int, done.stdout.split())
    assert flows >= 17
    assert entries >= 10


def test_the_catalogue_travels_too(installed: Installed) -> None:
    """``nettests lint`` finds facts, flows and entries in the bundle, and nothing to repair."""
    done = installed.nettests("lint")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "facts: nothing to repair" in done.stdout


def test_it_renders_reports(installed: Installed) -> None:
    """Templates, style, script and schemas travel in the wheel."""
    program = """
import json
from importlib.resources import files
from nettests.report import build_results, render_html, render_json, render_junit, render_markdown
results = build_results([])
made = [render(results) for render in (render_html, render_json, render_junit, render_markdown)]
data = files("nettests.report")
json.loads(data.joinpath("results.schema.json").read_text("utf-8"))
print(json.dumps([len(text) for text in made] + [len(data.joinpath("junit.xsd").read_text("utf-8"))]))
"""
    done = installed.run("-c", program)
    assert done.returncode == 0, done.stderr
    assert all(length > 100 for length in json.loads(done.stdout))


def test_a_run_on_the_lab_works_outside_the_checkout(installed: Installed) -> None:
    """The wheel alone brings up a lab, queries it and writes reports."""
    arguments = ("run", "--lab=linux", "--flow=pod-to-pod-ip", "--report-dir=here", "--quiet")
    done = installed.nettests(*arguments, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((installed.outside / "here" / "latest" / "results.json").read_text())
    assert results["counts"]["pass"] == results["coverage"]["ran"] > 0


def test_the_harness_imports_without_any_extra(harness: Installed) -> None:
    """What ``pip install nettests`` brings is enough for every module but the lab's and those of captures."""
    program = """
import importlib, pkgutil, nettests
beside = ("nettests.lab", "nettests.wire", "nettests.__main__", "nettests._bundled")
found = []
def walk(path, prefix):
    for one in pkgutil.iter_modules(path, prefix):
        if not one.name.startswith(beside):
            found.append(one.name)
            module = importlib.import_module(one.name)
            if one.ispkg:
                walk(module.__path__, one.name + ".")
walk(nettests.__path__, "nettests.")
print(len(found))
"""
    done = harness.run("-c", program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200


def test_the_harness_queries_no_lab_for_its_own_commands(harness: Installed) -> None:
    """A command that needs no cluster works, and the lab's libraries are really missing."""
    assert harness.nettests("lint").returncode == 0
    assert harness.run("-c", "import pyroute2").returncode != 0


@pytest.mark.parametrize(
    "arguments",
    [("run", "--lab", "--report-dir=here"), ("plan", "--lab"), ("lab", "up")],
    ids=" ".join,
)
def test_without_the_extra_the_lab_says_what_to_type(
    harness: Installed, arguments: tuple[str, ...]
) -> None:
    """Where the lab's libraries are missing, the one line that installs them is told; it is wrong usage."""
    done = harness.nettests(*arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout + done.stderr
    said = done.stdout + done.stderr
    assert "httptools, pyroute2, ruamel.yaml, trustme" in said
    assert "→ pip install 'nettests[lab]'" in said
    assert "Traceback" not in said
