"""One owner of concurrency: no module but ``nettests.bounds`` decides how much happens at once."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.test_contracts import modules, relative

OWNER = "nettests/bounds/"
LAB = "nettests/lab/"
"""A product of its own, which emulates what others decide."""
POOLS = {"ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "ThreadPool"}
ROOMS = {"Semaphore", "BoundedSemaphore"}
ONE_THREAD = {
    "nettests/probes/bulk_services.py": "makes and removes many Services of a run",
    "nettests/cluster/owner_marks.py": "renews the Lease of a run",
    "nettests/cluster/shared_watch.py": "watches the Pods of a namespace, while somebody follows one",
    "nettests/probes/pending.py": "carries one question, which enters the slots of its channel",
    "nettests/session/calibrate_local.py": "serves an open port of this machine",
    "nettests/session/node_monitor.py": "looks at the nodes of a run",
    "nettests/session/run.py": "carries a run",
}
"""Modules that start a thread and are no pool, and what for."""
COUNTED = {"nettests/diagnose/collect.py"}
"""Modules that start as many threads as a bound says: daemons, which no executor has."""


def test_every_pool_has_its_size_from_the_bounds() -> None:
    """A pool, a semaphore or a number of threads is read from ``Bounds``, in every module of the harness."""
    found = {
        f"{relative(path)}:{line}: {what}"
        for path in modules("nettests")
        if not relative(path).startswith((OWNER, LAB))
        for line, what in deciding(ast.parse(path.read_text("utf-8")))
        if not (what == "Thread" and relative(path) in {*ONE_THREAD, *COUNTED})
    }
    assert found == set()


def test_every_module_that_starts_a_thread_is_still_one() -> None:
    """The modules that may start threads do, and those that start several read how many."""
    for name in {*ONE_THREAD, *COUNTED}:
        (path,) = (path for path in modules("nettests") if relative(path) == name)
        text = path.read_text("utf-8")
        assert "threading.Thread(" in text, name
        assert name in ONE_THREAD or "range(min(self.bounds." in text, name


@pytest.mark.parametrize(
    "text",
    [
        "ThreadPoolExecutor()",
        "ThreadPoolExecutor(8)",
        "ThreadPoolExecutor(max_workers=8)",
        "ThreadPoolExecutor(AT_ONCE, 'name')",
        "ThreadPoolExecutor(2 * bounds.pulls)",
        "futures.ThreadPoolExecutor(max_workers=self.limit)",
        "threading.Semaphore(4)",
        "threading.BoundedSemaphore(bounds.pulls)",
        "threading.Thread(target=work)",
        "CREATING_AT_ONCE = 8",
        "MAX_WORKERS: int = 8",
        "UNDER_WAY = 8",
        "Slots(at_once=4, patience=1, ceiling=4)",
        "Bounds(pulls=3)",
    ],
)
def test_every_way_to_decide_is_seen(text: str) -> None:
    """The rule sees the ways in which a module could decide by itself."""
    assert list(deciding(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "ThreadPoolExecutor(bounds.pulls, 'pull')",
        "ThreadPoolExecutor(connection.bounds.requests_open)",
        "ThreadPoolExecutor(Bounds.of(timing).pulls)",
        "ThreadPoolExecutor(max_workers=self._bounds.disruptive)",
    ],
)
def test_a_bound_that_is_read_is_none_that_is_decided(text: str) -> None:
    """What the owner says may be used anywhere."""
    assert not list(deciding(ast.parse(text)))


def deciding(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of what decides how much happens at once."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                size = [
                    *node.args[:1],
                    *(one.value for one in node.keywords if "max" in str(one.arg)),
                ]
                unread = name in POOLS and not (size and all(map(_read, size)))
                own = name == "Bounds" and bool(node.args or node.keywords)
                if unread or own or name in {*ROOMS, "Slots", "Thread"}:
                    yield node.lineno, name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if (
                    name.isupper()
                    and isinstance(node.value, ast.Constant)
                    and name.endswith(("AT_ONCE", "THREADS", "WORKERS", "PARALLEL", "UNDER_WAY"))
                ):
                    yield node.lineno, name


def _read(size: ast.expr) -> bool:
    """Whether an expression is a field of the bounds, as it is."""
    match size:
        case ast.Attribute(value=ast.Name(id="bounds" | "_bounds")):
            return True
        case ast.Attribute(value=ast.Attribute(attr="bounds" | "_bounds")):
            return True
        case ast.Attribute(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="Bounds"), attr="of"))
        ):
            return True
    return False
