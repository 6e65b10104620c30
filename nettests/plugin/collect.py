"""The plan as pytest parameters: one test per check, planned skips included.

Registered in every process that collects. Ids are those of the checks, so every process collects
the same tests in the same order.
"""

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from nettests.model.check import Check, Skip
from nettests.model.visible import as_line
from nettests.plan import flow_of
from nettests.plugin.pytest_options import suites
from nettests.session.blueprint import Blueprint
from nettests.session.journal import Follower

CHECK = "check"


@dataclass(frozen=True, slots=True, eq=False)
class Collector:
    """The knowledge of a collecting process: what will run, and where verdicts appear.

    Compared by identity, because pytest keeps plugins in sets.
    """

    blueprint: Blueprint
    follower: Follower
    declared: frozenset[str]
    """The names of all flows that were read, planned or not."""

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Module | None:
        """Collect a named suite whatever its file name, even if its folder was named, too.

        pytest then searches only the folder, by file names, and collects what matches by itself.
        """
        config = parent.config
        usual = any(fnmatch(file_path.name, pattern) for pattern in config.getini("python_files"))
        if usual or parent.session.isinitpath(file_path) or file_path not in suites(config):
            return None
        return pytest.Module.from_parent(parent, path=file_path)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrise a suite's test with each check and skip of its flow."""
        flow = flow_of(metafunc.function)
        if flow is None:
            return
        if flow.name not in self.declared:
            raise pytest.Collector.CollectError(
                f"flow {flow.name} is declared in {metafunc.module.__file__}, which was not loaded as a suite, so that its checks are "
                "not planned: name the file with --suite, or import nettests in it"
            )
        plan = self.blueprint.plan
        planned: list[Check | Skip] = [
            *(check for check in plan.checks if check.flow == flow.name),
            *(skip for skip in plan.skips if skip.flow == flow.name),
        ]
        metafunc.parametrize(CHECK, [_parameter(check_or_skip) for check_or_skip in planned])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Drop the tests of flows that do not run; pytest keeps a placeholder for each."""
        placeholders = [
            item
            for item in items
            if flow_of(getattr(item, "function", None)) is not None and not _planned(item)
        ]
        if placeholders:
            config.hook.pytest_deselected(items=placeholders)
            items[:] = [item for item in items if item not in placeholders]


def _parameter(planned: Check | Skip) -> object:
    marks = [pytest.mark.skip(reason=as_line(planned.reason))] if isinstance(planned, Skip) else []
    return pytest.param(planned, id=planned.id, marks=marks)


def _planned(item: pytest.Item) -> bool:
    """Whether a test has a check or skip; for an empty list pytest creates a test without one."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and isinstance(callspec.params.get(CHECK), Check | Skip)


def check_in(nodeid: str) -> str | None:
    """Return the parameter in a test's id, which may be a check's id, or ``None`` without one.

    A flow that is skipped as a whole has only its name as an id.
    """
    # sample: suites/test_pod_to_pod.py::test_pod_to_pod_ip[pod-to-pod-ip/linux-1/linux-1/same-node/tcp]
    _, opened, inside = nodeid.rpartition("::")[2].partition("[")
    return inside.removesuffix("]") if opened else None
