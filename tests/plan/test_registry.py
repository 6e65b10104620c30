"""Suites are found by path, and flows are unique by name."""

from pathlib import Path

import pytest

from nettests.errors import PlanError
from nettests.plan import load

SUITE = '''
"""A suite."""
from nettests.model.expectation import Source
from nettests.model.words import TargetKind, VantageKind
from nettests.plan import Matrix, flow

@flow("{name}", source=VantageKind.POD, target=TargetKind.POD_IP, matrix=Matrix.PAIRS,
      sources=(Source(document="d"),))
def test_it(verdict):
    """It works."""
    assert verdict.accepted
'''


def suite(folder: Path, name: str, file: str = "test_it.py") -> Path:
    """Write a suite that declares one flow."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    path.write_text(SUITE.replace("{name}", name))
    return path


def names(*paths: Path) -> list[str]:
    """Return the names of the flows that are declared at these paths."""
    return [flow.name for flow in load(paths).flows]


def test_files_and_folders_are_loaded(tmp_path: Path) -> None:
    """A suite may be named as a file or by a folder above it; flows come in the order of names."""
    suite(tmp_path / "one" / "deeper", "b-flow")
    alone = suite(tmp_path / "two", "a-flow")
    assert names(tmp_path / "one", alone) == ["a-flow", "b-flow"]


def test_a_suite_named_twice_counts_once(tmp_path: Path) -> None:
    """A file inside a named folder is not a duplicate of itself."""
    path = suite(tmp_path, "a-flow")
    assert names(tmp_path, path) == ["a-flow"]


def test_equal_module_names_do_not_clash(tmp_path: Path) -> None:
    """Two vendors may call their modules the same."""
    one, two = suite(tmp_path / "one", "a-flow"), suite(tmp_path / "two", "b-flow")
    assert names(one, two) == ["a-flow", "b-flow"]


def test_duplicates_name_both_places(tmp_path: Path) -> None:
    """A flow declared by two modules is an error that names both."""
    one, two = suite(tmp_path / "one", "a-flow"), suite(tmp_path / "two", "a-flow")
    with pytest.raises(PlanError) as caught:
        load([one, two])
    assert str(one) in caught.value.message
    assert str(two) in caught.value.message


def test_unknown_flows_get_near_misses(tmp_path: Path) -> None:
    """A flow that no suite declares is refused with the names that come close."""
    registry = load([suite(tmp_path, "pod-to-pod-ip")])
    with pytest.raises(PlanError) as caught:
        registry.select(["pod-to-pod-op"])
    assert caught.value.hint == "did you mean 'pod-to-pod-ip'?"


def test_hopeless_flows_get_the_list(tmp_path: Path) -> None:
    """A name that resembles none is answered with all names."""
    registry = load([suite(tmp_path, "pod-to-pod-ip")])
    with pytest.raises(PlanError) as caught:
        registry.select(["zzz"])
    assert caught.value.hint == "there are: pod-to-pod-ip"


def test_selection_keeps_the_named_flows(tmp_path: Path) -> None:
    """Named flows remain; naming none keeps all."""
    registry = load([suite(tmp_path / "a", "a-flow"), suite(tmp_path / "b", "b-flow")])
    assert [flow.name for flow in registry.select(["b-flow"]).flows] == ["b-flow"]
    assert registry.select([]) == registry


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    """A suite that is not there is not an empty suite."""
    with pytest.raises(PlanError, match="no suite at"):
        load([tmp_path / "nowhere"])


def test_a_broken_suite_is_named(tmp_path: Path) -> None:
    """A suite that cannot be imported is an error with its path and the reason."""
    path = tmp_path / "test_broken.py"
    path.write_text("import nettests.plan\nimport there_is_no_such_module\n")
    with pytest.raises(PlanError, match=r"test_broken\.py.*there_is_no_such_module"):
        load([tmp_path])


def test_other_test_files_are_left_alone(tmp_path: Path) -> None:
    """A test module in a folder that does not speak of nettests is not executed."""
    (tmp_path / "test_other.py").write_text("raise SystemExit('executed')\n")
    assert names(tmp_path) == []


@pytest.mark.parametrize("statement", ["from nettests import plan", "import nettests.plan as plan"])
def test_a_suite_may_import_plan_in_any_way(tmp_path: Path, statement: str) -> None:
    """A module is known for a suite by the word nettests, not by one way to import it."""
    text = SUITE.replace(
        "from nettests.plan import Matrix, flow",
        f"{statement}\nflow, Matrix = plan.flow, plan.Matrix",
    )
    file = tmp_path / "test_mine.py"
    file.write_text(text.replace("{name}", "my-flow"))
    assert names(file) == names(tmp_path) == ["my-flow"]


def test_what_is_named_is_executed(tmp_path: Path) -> None:
    """A file that gets its flows from elsewhere is read when it is named."""
    suite(tmp_path, "my-flow", "vendor_flows.py")
    file = tmp_path / "test_mine.py"
    file.write_text(
        f"import runpy\nglobals().update(runpy.run_path({str(tmp_path / 'vendor_flows.py')!r}))"
    )
    assert names(file) == ["my-flow"]


def test_a_flow_on_what_is_no_test_is_an_error(tmp_path: Path) -> None:
    """pytest would not collect the function, and the flow would be planned and never judged."""
    path = suite(tmp_path, "a-flow")
    path.write_text(path.read_text().replace("def test_it", "def check_it"))
    with pytest.raises(PlanError) as caught:
        load([path])
    assert "a-flow" in str(caught.value)
    assert f"{path}: " in str(caught.value)
    assert "call the function test_check_it" in str(caught.value)
