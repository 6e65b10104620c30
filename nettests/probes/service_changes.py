"""The changes of a Service that ``CHURN`` makes, and which backend must answer after each. Pure.

``churn`` applies them and watches. A step names the object, its change, which backend must answer
where, and the words for a failure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from nettests.model.check import Check
from nettests.model.json_text import Object
from nettests.model.labels import POD_LABEL, PURPOSE_LABEL, RUN_LABEL
from nettests.model.service import Change, sibling_of
from nettests.parse.observe import NO_ENDPOINTS, SEVERAL

ROUNDS = 2
_KEPT = ("name", "port", "targetPort", "protocol")


class Operation(StrEnum):
    """An operation on a Service, or on a Pod behind it."""

    RECREATE = "recreate"
    UPDATE = "update"
    REPLACE = "replace"
    """Delete a Pod behind the Service, and start another one."""
    DELETE = "delete"
    CREATE = "create"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A Service, and what must answer there: one backend, none, or several.

    ``description`` reports that it did not; empty if the backend's name says enough.
    """

    service: str
    behind: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change: ``operation`` with ``item`` on ``service``, then the ``looks`` at who answers.

    ``unseen`` marks a change that no answer shows: the look lasts as long as rules took to follow
    other changes. ``gone`` and ``comes`` are the Pods of ``REPLACE``; either may be empty.
    """

    operation: Operation
    service: str
    item: Object = field(default_factory=dict)
    looks: tuple[Look, ...] = ()
    unseen: bool = False
    gone: str = ""
    comes: str = ""
    keeping_address: bool = False
    """Whether the new Pod must have the address of the old one."""


def steps(check: Check, services: Mapping[str, Object]) -> Iterator[Step]:
    """Yield the changes before ``check``; ``services`` holds the original Services by name."""
    settings, name = check.target.settings, check.target.service or ""
    change = settings.change if settings is not None else Change.RECREATED
    match change:
        case Change.RECREATED:
            for backend in _backends(check):
                item = remade(services[name], {POD_LABEL: backend})
                look = Look(service=name, behind=backend)
                yield Step(operation=Operation.RECREATE, service=name, item=item, looks=(look,))
        case Change.ENDPOINTS:
            for backend in _in_place(check):
                item = led_to(services[name], backend)
                look = Look(service=name, behind=backend)
                yield Step(operation=Operation.UPDATE, service=name, item=item, looks=(look,))
        case Change.SIBLING:
            yield from _beside_a_sibling(check, services[sibling_of(name)])
        case Change.POD:
            yield from _replaced(check, services[name])
        case Change.SAME_ADDRESS:
            yield from _replaced(check, services[name], keeping_address=True)
        case Change.PORT_NAME:
            yield from _renamed(check, services[name])
        case _:
            assert_never(change)


def services_of(check: Check) -> tuple[str, ...]:
    """Return the Services that are read before anything changes."""
    settings, name = check.target.settings, check.target.service or ""
    beside = settings is not None and settings.change is Change.SIBLING
    return (name, sibling_of(name)) if beside else (name,)


def _backends(check: Check) -> Iterator[str]:
    (final,) = check.target.backends
    for _ in range(ROUNDS):
        for former in check.target.former:
            yield former
            yield final
            yield former
        yield NO_ENDPOINTS
        yield final


def _in_place(check: Check) -> Iterator[str]:
    """Yield the backends in order: others, the check's own, several, none, several, its own."""
    (final,) = check.target.backends
    for former in check.target.former:
        yield former
        yield final
    yield SEVERAL
    yield final
    yield NO_ENDPOINTS
    yield SEVERAL
    yield final


def _beside_a_sibling(check: Check, sibling: Object) -> Iterator[Step]:
    """Yield deletions and creations of a sibling; the Service itself must keep working."""
    (final,) = check.target.backends
    name = check.target.service or ""
    twin = sibling_of(name)
    again = remade(sibling, sibling["spec"]["selector"])

    def step(operation: Operation, behind: str, done: str) -> Step:
        change = f"Service {twin} over the same endpoints {done}"
        still = "is answered all the same" if behind == NO_ENDPOINTS else f"{final} does not answer"
        looks = (
            Look(service=twin, behind=behind, description=f"{change}, and {still}"),
            Look(service=name, behind=final, description=f"{change}, and this one lost {final}"),
        )
        return Step(operation=operation, service=twin, item=again, looks=looks)

    yield step(Operation.NOTHING, final, "stood beside this one")
    for _ in range(ROUNDS):
        yield step(Operation.DELETE, NO_ENDPOINTS, "was deleted")
        yield step(Operation.CREATE, final, "was recreated")
    yield step(Operation.DELETE, NO_ENDPOINTS, "was deleted")


def group_of(service: str) -> str:
    """Return the label value of the Pods that replace each other behind a Service."""
    return service


def _replaced(check: Check, service: Object, *, keeping_address: bool = False) -> Iterator[Step]:
    """Yield Pods that replace each other, until the Service has the check's own backend again."""
    where = " at the same address" if keeping_address else ""
    (final,) = check.target.backends
    name = check.target.service or ""
    yield Step(operation=Operation.UPDATE, service=name, item=led_to(service, group_of(name)))
    former = ""
    for number in range(1, ROUNDS + 2):
        pod = f"{name}-{number}"
        done = (
            f"the Service's Pod {former} was replaced by {pod}{where}"
            if former
            else f"the Service was left with the new Pod {pod} as its endpoint"
        )
        look = Look(service=name, behind=pod, description=f"{done}, and {_STAY}")
        yield Step(
            operation=Operation.REPLACE,
            service=name,
            looks=(look,),
            gone=former,
            comes=pod,
            keeping_address=keeping_address and bool(former),
        )
        former = pod
    description = f"the Service was left with {final} as endpoints in place, and {_STAY}"
    back = Look(service=name, behind=final, description=description)
    yield Step(operation=Operation.UPDATE, service=name, item=led_to(service, final), looks=(back,))
    yield Step(operation=Operation.REPLACE, service=name, gone=former)


_STAY = "its rules did not follow"
_RENAMED = "the Service's ports were renamed in place"


def _renamed(check: Check, service: Object) -> Iterator[Step]:
    """Yield renamed ports: with another backend, which shows that rules follow, then alone."""
    (final,) = check.target.backends
    name = check.target.service or ""
    number = 0
    for _ in range(ROUNDS):
        for backend in (*check.target.former, final):
            number += 1
            item = renamed(led_to(service, backend), number)
            description = f"{_RENAMED} and left with {backend} as endpoints, and {_STAY}"
            look = Look(service=name, behind=backend, description=description)
            yield Step(operation=Operation.UPDATE, service=name, item=item, looks=(look,))
        number += 1
        item = renamed(led_to(service, final), number)
        look = Look(service=name, behind=final, description=f"{_RENAMED}, and it lost {final}")
        yield Step(operation=Operation.UPDATE, service=name, item=item, looks=(look,), unseen=True)


def led_to(service: Object, backend: str) -> Object:
    """Return the Service with a selector for one pod, for all servers, or for none."""
    marks = service["metadata"].get("labels") or {}
    run = {RUN_LABEL: marks[RUN_LABEL]} if RUN_LABEL in marks else {}
    chosen = {**run, PURPOSE_LABEL: "server"} if backend == SEVERAL else {POD_LABEL: backend}
    metadata = {
        key: value for key, value in service["metadata"].items() if key != "resourceVersion"
    }
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {**service["spec"], "selector": chosen},
    }


def renamed(item: Object, number: int) -> Object:
    """Return the Service with port names that end with ``number``."""
    spec = item["spec"]
    ports = [{**port, "name": f"{port['name']}-{number}"} for port in spec["ports"]]
    return {**item, "spec": {**spec, "ports": ports}}


def remade(service: Object, selector: Mapping[str, str]) -> Object:
    """Return the Service to recreate at the same address, with this selector."""
    spec = service["spec"]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {key: service["metadata"][key] for key in ("name", "namespace", "labels")},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": spec["clusterIP"],
            "selector": dict(selector),
            "ports": [{key: port[key] for key in _KEPT if key in port} for port in spec["ports"]],
        },
    }
