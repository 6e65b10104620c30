"""Declare flows on the tests that assert them, and load the flows of suites.

``flow`` is the decorator: the test's docstring is the claim, and a test needs no body, because it
waits for the verdict and asserts it. Nothing here knows pytest except that it passes fixtures by
parameter names. ``load`` is called once per process, before planning, and is the only file access
in ``plan``: a named file is executed, and in a folder each test module that mentions ``nettests``.
Flows are unique by name.
"""

import functools
import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import ParamSpec

from nettests.errors import PlanError
from nettests.model.verdict import Judgement
from nettests.plan.flow import Declaration, Flow
from nettests.plan.selection import chosen_of

Test = Callable[..., object]
Fields = ParamSpec("Fields")

_ATTRIBUTE = "nettests_flow"
_SIGNATURE = "__signature__"
_ASKED = inspect.Signature(
    [inspect.Parameter("verdict", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Judgement)]
)
"""The signature of a test that names no fixture: pytest passes it the verdict."""


def _on_a_test(
    declaration: Callable[Fields, Declaration],
) -> Callable[Fields, Callable[[Test], Test]]:
    """Return a decorator with the parameters of ``declaration``, which alone lists the fields."""

    @functools.wraps(declaration, assigned=(), updated=())
    def flow(*args: Fields.args, **named: Fields.kwargs) -> Callable[[Test], Test]:
        """Declare the flow that the decorated test asserts; the docstring's first paragraph is its claim.

        The test is run once for every check that the plan makes of the flow. The arguments are the fields
        of ``Declaration``.
        """
        return functools.partial(_declared_on, declaration(*args, **named))

    return flow


def _declared_on(declaration: Declaration, test: Test) -> Test:
    values = {field.name: getattr(declaration, field.name) for field in fields(declaration)}
    claim = _first_paragraph(test.__doc__ or "")
    setattr(test, _ATTRIBUTE, Flow(**values, claim=claim, suite=_topic(test)))
    return test if inspect.signature(test).parameters else _asserting(test)


flow = _on_a_test(Declaration)


def _asserting(test: Test) -> Test:

    @functools.wraps(test)
    def asserting(verdict: Judgement) -> None:
        assert verdict.accepted, verdict.message
        test()

    setattr(asserting, _SIGNATURE, _ASKED)
    return asserting


def flow_of(test: object) -> Flow | None:
    """Return the flow that a test declares, or ``None``."""
    declared = getattr(test, _ATTRIBUTE, None)
    return declared if isinstance(declared, Flow) else None


def _topic(test: Test) -> str:
    """Return the topic of a test's module, without the details after a colon."""
    module = getattr(test, "__globals__", {})
    # sample: NodePorts answer on every node: the node itself, other nodes, pods and clients outside.
    words = re.split(r"[:.](?:\s|$)", _first_paragraph(module.get("__doc__") or ""))[0]
    return words or str(getattr(test, "__module__", "")).rpartition(".")[2]


def _first_paragraph(docstring: str) -> str:
    return " ".join(docstring.strip().split("\n\n")[0].split())


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
        """Return the flows that patterns select; ``PlanError`` with near misses."""
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
                f"{file}: flow {flow.name} is declared on {name}, which pytest does not collect as a test",
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
