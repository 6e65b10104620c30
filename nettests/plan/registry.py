"""Load the flows of the given suites: read from their modules, unique by name.

Called once per process, before planning. Loading is the only file access in ``plan``: a named file
is executed, and in a folder each test module that mentions ``nettests``.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from nettests.errors import PlanError
from nettests.plan.choice import chosen_of
from nettests.plan.declare import flow_of
from nettests.plan.flow import Flow

_COLLECTED = "test"
"""The prefix of the functions that pytest collects (``python_functions``)."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Flows by name, in the order of their names; ``declared`` are all names, selected or not."""

    flows: tuple[Flow, ...]
    declared: frozenset[str]

    @classmethod
    def of(cls, declared: Iterable[tuple[Flow, str]]) -> "Registry":
        """Collect flows with the places that declare them; ``PlanError`` for a duplicate."""
        places: dict[str, str] = {}
        flows = []
        for flow, place in declared:
            if flow.name in places:
                raise PlanError(
                    f"flow {flow.name} is declared twice: in {places[flow.name]} and in {place}",
                    hint="rename one of them, or name only one of the two suites",
                )
            places[flow.name] = place
            flows.append(flow)
        return cls(tuple(sorted(flows, key=lambda flow: flow.name)), frozenset(places))

    def select(self, patterns: Sequence[str]) -> "Registry":
        """Return the flows that patterns select (``choice``); ``PlanError`` with near misses."""
        names = [flow.name for flow in self.flows]
        chosen = chosen_of(names, patterns, "no suite declares a flow")
        return Registry(tuple(flow for flow in self.flows if flow.name in chosen), self.declared)


def load(paths: Sequence[Path]) -> Registry:
    """Return the flows that the suite modules at ``paths`` (files or folders) declare.

    A module that cannot be imported is a ``PlanError`` with the file and the reason.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise PlanError(f"no suite at {path}", hint="name a test file or a folder of them")
        files.update(dict.fromkeys(_modules(path)))
    return Registry.of(flow for file in files for flow in _declared(file))


def _modules(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path.resolve()]
    files = sorted(path.rglob("test_*.py"))
    return [file.resolve() for file in files if "nettests" in file.read_text("utf-8")]


def _declared(file: Path) -> Iterator[tuple[Flow, str]]:
    for name, value in vars(_execute(file)).items():
        flow = flow_of(value)
        if flow is None:
            continue
        if not name.startswith(_COLLECTED):
            raise PlanError(
                f"{file}: flow {flow.name} is declared on {name}, which pytest does not take for a test",
                hint=f"call the function {_COLLECTED}_{name}, or nobody would ever judge the flow",
            )
        yield flow, str(file)


def _execute(file: Path) -> ModuleType:
    # The name depends on the whole path: two suites may have modules of the same name.
    name = f"nettests_suite_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PlanError(f"{file} is not a Python module", hint="name a test file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except PlanError as error:
        raise PlanError(f"{file}: {error.message}", hint=error.hint) from error
    except Exception as error:
        raise PlanError(
            f"suite {file} cannot be imported: {type(error).__name__}: {error}",
            hint=f"run: python {file}",
        ) from error
    finally:
        sys.modules.pop(name, None)
    return module
