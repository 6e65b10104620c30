"""Which webhooks see a run's Pods, and which guide and profile fit a cluster."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.cluster.profile_file import read_profile, ready_profiles
from nettests.model.cluster_profile import OUTSIDE_MESHES
from nettests.model.facts import Fact, known
from nettests.model.json_text import Object
from nettests.preflight import Level
from nettests.preflight.evidence import Finding
from tests.plan.clusters import mixed
from tests.preflight.made import evidence, finding

RULE = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
}
NAMESPACE = {"istio-injection": "disabled", "kubernetes.io/metadata.name": "nettests-x"}
HEALTHY = evidence()
PODS = [item for item in HEALTHY.objects if item["kind"] == "Pod"]
READY = {name: read_profile(file).facts for name, file in ready_profiles().items()}


def seen(rule: Object | None = None, **hook: Any) -> Finding:
    """Return what is found with one webhook, of Pods that stand while a run tests."""
    webhook = {"name": "a.test", "rules": [{**RULE, **(rule or {})}], **hook}
    item = {"kind": "MutatingWebhookConfiguration", "webhooks": [webhook]}
    state = replace(
        HEALTHY, webhooks=(item,), namespace_labels=NAMESPACE, objects=(*PODS,), passing=()
    )
    return finding("webhooks", state)


def expressions(key: str, operator: str, *values: str) -> Object:
    """Return a selector of one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": [*values]}]}


@pytest.mark.parametrize(
    ("rule", "hook", "sees"),
    [
        ({}, {}, True),
        ({"resources": ["*"]}, {}, True),
        ({"resources": ["pods/*"]}, {}, True),
        ({"resources": ["pods/exec"]}, {}, False),
        ({"resources": ["deployments"]}, {}, False),
        ({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"]}, {}, True),
        ({"operations": ["UPDATE", "DELETE"]}, {}, False),
        ({"apiGroups": ["apps"]}, {}, False),
        ({"apiVersions": ["v2"]}, {}, False),
        ({"scope": "Cluster"}, {}, False),
        ({"scope": "Namespaced"}, {}, True),
        ({}, {"namespaceSelector": {"matchLabels": {"istio-injection": "enabled"}}}, False),
        ({}, {"namespaceSelector": expressions("istio-injection", "NotIn", "disabled")}, False),
        ({}, {"namespaceSelector": expressions("istio-injection", "In", "disabled", "x")}, True),
        ({}, {"namespaceSelector": expressions("istio-injection", "Exists")}, True),
        ({}, {"namespaceSelector": expressions("istio-injection", "DoesNotExist")}, False),
        ({}, {"namespaceSelector": expressions("ignored", "DoesNotExist")}, True),
        ({}, {"namespaceSelector": expressions("ignored", "NotIn", "true")}, True),
        ({}, {"namespaceSelector": {}, "objectSelector": {}}, True),
        ({}, {"objectSelector": {"matchLabels": {"app": "none-of-ours"}}}, False),
        ({}, {"objectSelector": expressions("sidecar.istio.io/inject", "NotIn", "false")}, False),
    ],
)  # fmt: skip
def test_a_webhook_sees_what_its_rules_and_selectors_match(
    rule: Object, hook: Object, sees: bool
) -> None:
    """As the API server matches them: the last one is Istio's, out of which Pods of a run opt."""
    found = seen(rule, **hook)
    assert found.level is (Level.NOTE if sees else Level.OK)
    assert bool(found.details) is sees


def test_a_line_says_kind_policy_and_how_many_pods() -> None:
    """And that conditions were not looked at, where there are some."""
    some = {"objectSelector": {"matchLabels": {"nettests.dev/purpose": "probe"}}}
    (line,) = seen(failurePolicy="Ignore", matchConditions=[{"name": "c"}], **some).details
    assert line.startswith("a.test (mutating, failurePolicy Ignore): ")
    assert line.endswith("unless its matchConditions exclude them")
    assert "failurePolicy Fail" in seen().details[0]
    (few, _, many) = line.partition(": ")[2].partition(" of ")
    assert 0 < int(few) < int(many.split()[0])


def test_webhooks_that_cannot_be_listed_are_not_known() -> None:
    """That is a note with the reason, and never a promise."""
    found = finding("webhooks", replace(HEALTHY, webhooks_unread="list is forbidden"))
    assert found.level is Level.NOTE
    assert "list is forbidden" in found.summary


def stored(item: Object) -> bool:
    """Whether a Pod is more than tried by a dry run."""
    return bool(item["kind"] == "Pod" and item["metadata"]["name"] != "admission")


def test_every_pod_and_the_namespace_of_a_run_opt_out_of_meshes() -> None:
    """By labels and annotations that the meshes document."""
    assert PODS
    passing = [item for group in HEALTHY.passing for item in group.objects]
    for item in (*PODS, *(item for item in passing if stored(item))):
        assert item["metadata"]["labels"].items() >= OUTSIDE_MESHES["labels"].items()
        assert item["metadata"]["annotations"].items() >= OUTSIDE_MESHES["annotations"].items()
    spaces = [item["metadata"] for item in HEALTHY.objects if item["kind"] == "Namespace"]
    assert spaces
    for space in spaces:
        assert space["labels"]["istio-injection"] == "disabled"
        assert space["annotations"] == {"linkerd.io/inject": "disabled"}


@pytest.mark.parametrize(
    ("platform", "plugin", "backend", "profile"),
    [
        ("aks", "azure-cni", None, "aks"),
        ("aks", "azure-cni", "overlay", "aks-overlay"),
        ("aks", "cilium", None, "aks-cilium"),
        ("eks", "aws-vpc-cni", None, "eks"),
        ("gke", "sdnbridge", None, "gke"),
        ("openshift", "ovn-kubernetes", "hybrid-overlay", "openshift"),
        ("rke2", "calico", "vxlan", "rke2-calico"),
        ("rke2", "flannel", "vxlan", "rke2-flannel"),
        ("other", "flannel", "host-gw", "kubeadm-flannel"),
        ("other", "calico", "windows-bgp", "kubeadm-calico"),
        ("aks", "calico", "vxlan", None),
        ("openshift", "ovn-kubernetes", None, None),
        ("other", "antrea", None, None),
        (None, None, None, None),
    ],
)  # fmt: skip
def test_the_profile_that_fits_is_named_with_its_guide(
    platform: str | None, plugin: str | None, backend: str | None, profile: str | None
) -> None:
    """It contradicts nothing that was read, and of several it states most; else the general guide is named."""
    cni = replace(mixed().cni, plugin=Fact(plugin, "test"), backend=Fact(backend, "test"))
    facts = replace(mixed(), platform=known(platform, "a label") if platform else Fact(None, "a label"), cni=cni)  # fmt: skip
    found = finding("platform", replace(evidence(facts), ready=READY))
    assert found.level is Level.NOTE
    assert found.details == ("a label",)
    wanted = f"docs/guides/{profile.partition('-')[0]}.md, and pass --cluster-profile {profile}" if profile else "docs/guides/real-clusters.md"  # fmt: skip
    assert found.summary.endswith(wanted)
