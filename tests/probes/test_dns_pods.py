"""A DNS Pod that goes while it is probed tells nothing; one that stays does."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nettests.model.channel import ExecAnswer
from nettests.model.facts import known
from nettests.model.words import Question, Resolver, TargetKind
from nettests.probes.churn import Churn
from tests.probes.conftest import Bench, address_of
from tests.probes.made import NAMESPACE, action, check
from tests.probes.netexec import Processes

PROBE = "probe-linux-1-1"
ADDRESS = "10.244.1.2"
SILENT = ";; communications error to 10.244.1.2#53: timed out\n;; no servers could be reached\n"
ANSWERED = "Server:\t10.244.1.2\nAddress:\t10.244.1.2#53\n\nName:\ta.b\nAddress: 10.96.0.1\n"


@dataclass(slots=True)
class Nslookup(Processes):
    """Prints what it is told."""

    says: str = SILENT

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Answer every command alike."""
        return ExecAnswer(exit_code=0, stdout=self.says, stderr="")


@dataclass(slots=True)
class Api:
    """Lists one DNS Pod."""

    ready: str
    deleted: bool = False

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Return the Pods of kube-system that have the label."""
        assert (path, query) == (
            "/api/v1/namespaces/kube-system/pods",
            {"labelSelector": "k8s-app=kube-dns"},
        )
        metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if self.deleted else {}
        conditions = [{"type": "Ready", "status": self.ready}]
        status = {"phase": "Running", "podIP": ADDRESS, "conditions": conditions}
        return 200, json.dumps({"items": [{"metadata": metadata, "status": status}]})

    def delete(self, path: str) -> None:
        """Nothing is deleted."""
        raise AssertionError(path)

    def update(self, path: str, item: dict[str, Any]) -> None:
        """Nothing is changed."""
        raise AssertionError(path, item)

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        """Nothing is created."""
        raise AssertionError(item)


@pytest.mark.parametrize(
    ("api", "distrust"),
    [
        (Api(ready="True"), None),
        (Api(ready="False"), f"the DNS Pod at {ADDRESS} does not serve any more"),
        (Api(ready="True", deleted=True), f"the DNS Pod at {ADDRESS} does not serve any more"),
    ],
)
@pytest.mark.parametrize("says", [SILENT, ANSWERED])
def test_a_dns_pod_that_goes_during_the_run_proves_nothing(
    bench: Bench, api: Api, distrust: str | None, says: str
) -> None:
    """Whatever it answered: the check is not trusted, and the reason names the Pod."""
    bench.facts = replace(bench.facts, dns_pods=known((address_of(ADDRESS),), "test"))
    bench.processes[PROBE] = Nslookup("127.0.0.1", says=says)
    made = check(
        action(
            PROBE,
            TargetKind.DNS_POD,
            question=Question.RESOLVE,
            resolver=Resolver.NSLOOKUP,
            name_form="a.b.",
        )
    )
    observer = bench.observer([made])
    observer.churn = Churn(services=api, namespace=NAMESPACE)
    observer.run()
    assert bench.done(made.id).get("distrust") == distrust
