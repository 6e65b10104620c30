"""``flow`` declares a flow on the test that asserts it; the test's docstring is the claim.

Used by suites. A test needs no body: it waits for the verdict and asserts it. Knows nothing of
pytest except that it passes fixtures by parameter names.
"""

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from typing import ParamSpec

from nettests.model.verdict import Judgement
from nettests.plan.flow import Declaration, Flow

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
