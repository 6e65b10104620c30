"""Decides as an API server would by a ValidatingAdmissionPolicy: its rules matched, its expressions evaluated as CEL.

After the reference of admissionregistration.k8s.io/v1: conditions, then variables (of which each is known to
those after it, and an error counts where it is used), then validations; ``failurePolicy: Fail`` makes every
error a refusal. Only what our policy uses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cel_expr_python import cel

Object = Mapping[str, Any]
NAMES = ("request", "object", "variables")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """A request as admission sees it: the fields of an AdmissionReview that expressions read."""

    operation: str
    resource: str
    """``pods``, ``pods/exec``, ``statefulsets`` …"""
    group: str = ""
    name: str = ""
    namespace: str = ""
    groups: tuple[str, ...] = ("system:authenticated", "nettests")
    item: Object | None = None
    dry_run: bool = False

    @property
    def request(self) -> dict[str, Any]:
        """The variable of that name; what is empty is not there, as in its JSON."""
        plural, _, subresource = self.resource.partition("/")
        told = {
            "uid": "u",
            "operation": self.operation,
            "name": self.name,
            "namespace": self.namespace,
            "subResource": subresource,
            "dryRun": self.dry_run,
            "resource": {"group": self.group, "version": "v1", "resource": plural},
            "userInfo": {
                "username": "tester",
                **({"groups": [*self.groups]} if self.groups else {}),
            },
        }
        return {key: value for key, value in told.items() if value != ""}


class EvaluationError(Exception):
    """An expression had no value."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy, as its file has it."""

    spec: Object

    def covers(self, probed: Requested) -> bool:
        """Whether the API server would query the policy at all."""
        return any(
            probed.group in rule["apiGroups"]
            and "v1" in rule["apiVersions"]
            and probed.operation in rule["operations"]
            and probed.resource in rule["resources"]
            for rule in self.spec["matchConstraints"]["resourceRules"]
        )

    def refusals(self, probed: Requested) -> list[str]:
        """Return why a request is refused; nothing where it passes."""
        assert self.spec["failurePolicy"] == "Fail"
        return list(self._refusals(probed)) if self.covers(probed) else []

    def _refusals(self, probed: Requested) -> Iterator[str]:
        data: dict[str, Any] = {"request": probed.request, "object": probed.item}
        try:
            if not all(_value(one["expression"], data) for one in self.spec["matchConditions"]):
                return
        except EvaluationError as error:
            yield str(error)
            return
        known: dict[str, Any] = {}
        for one in self.spec.get("variables", ()):
            try:
                known[one["name"]] = _value(one["expression"], {**data, "variables": known})
            except EvaluationError:
                continue
        for one in self.spec["validations"]:
            try:
                if _value(one["expression"], {**data, "variables": known}) is not True:
                    yield one["message"]
            except EvaluationError as error:
                yield str(error)


def _value(expression: str, data: Mapping[str, Any]) -> Any:
    found = _compiled(expression).eval(data={"variables": {}, **data})
    if found.type() == cel.Type.ERROR:
        raise EvaluationError(f"{expression}: {found.plain_value()}")
    return found.plain_value()


@cache
def _compiled(expression: str) -> Any:
    environment = cel.NewEnv(variables=dict.fromkeys(NAMES, cel.Type.DYN))
    return environment.compile(expression)
