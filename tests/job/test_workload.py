"""The Job and the CronJob: what their Pod runs, mounts and may, field by field as Kubernetes knows them."""

import sys
from typing import Any

import pytest

from nettests.errors import PlanError
from nettests.job.validation import Role
from nettests.job.workload import run_arguments
from tests.ci.test_schemas import unknown_fields
from tests.job.made import objects, pod_spec, wanted

EVERYTHING = {
    "claim": "reports",
    "claim_size": "1Gi",
    "files": (("cluster-profile.yaml", "kind: ClusterProfile"), ("baseline.yaml", "x")),
    "pull_secret": "regcred",
    "webhook_secret": "hook",
    "arguments": ("--enable=costly", "--", "-k", "x"),
}


@pytest.mark.parametrize("given", [{}, EVERYTHING, {**EVERYTHING, "schedule": "17 2 * * *"}])
@pytest.mark.parametrize("role", list(Role))
def test_every_field_is_one_of_kubernetes(role: Role, given: dict[str, Any]) -> None:
    """By the models of the official client, which are made of the published API."""
    for item in objects(role=role, **given):
        model = f"V1{item['kind']}"
        assert hasattr(sys.modules["kubernetes.client.models"], model)
        assert unknown_fields(item, model, item["kind"]) == []


def test_a_field_that_kubernetes_does_not_have_is_found() -> None:
    """The check of the test above can fail, in a list within a template too."""
    item = objects()[-1]
    item["spec"]["template"]["spec"]["containers"][0]["imagePolicy"] = "Always"
    assert unknown_fields(item, "V1Job", "Job") == [
        "Job.spec.template.spec.containers[0].imagePolicy"
    ]


def test_a_job_runs_once_and_ends() -> None:
    """Kubernetes repeats neither a container nor a Pod, ends it by its deadline, and keeps it for a day."""
    spec = objects(deadline=7200.0)[-1]["spec"]
    assert (spec["backoffLimit"], spec["template"]["spec"]["restartPolicy"]) == (0, "Never")
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (7200, 86400)


def test_a_cron_job_makes_the_same_job() -> None:
    """One at a time; how many are kept is its own affair, so that they have no age."""
    once, nightly = objects()[-1]["spec"], objects(schedule="17 2 * * *")[-1]["spec"]
    assert (nightly["schedule"], nightly["concurrencyPolicy"]) == ("17 2 * * *", "Forbid")
    del once["ttlSecondsAfterFinished"]
    assert nightly["jobTemplate"]["spec"] == once


def test_the_pod_keeps_to_the_level_restricted() -> None:
    """Not root, no capability, no escalation, a seccomp profile, a read-only root file system."""
    spec = pod_spec()
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()


def test_it_stands_on_a_linux_node() -> None:
    """In a mixed cluster a Pod without a selector may be put onto a Windows node, where its image has no build."""
    assert pod_spec()["nodeSelector"] == {"kubernetes.io/os": "linux"}


@pytest.mark.parametrize(
    ("taint", "tolerated"),
    [
        ("a/b:NoSchedule", {"key": "a/b", "effect": "NoSchedule", "operator": "Exists"}),
        ("a=b", {"key": "a", "value": "b", "operator": "Equal"}),
        ("CriticalAddonsOnly", {"key": "CriticalAddonsOnly", "operator": "Exists"}),
    ],
)
def test_it_tolerates_the_taints_that_are_named(taint: str, tolerated: dict[str, str]) -> None:
    """As kubectl writes them; without one it has no tolerations, and a word that is not a taint is refused."""
    assert pod_spec(tolerations=(taint,))["tolerations"] == [tolerated]
    assert "tolerations" not in pod_spec()
    with pytest.raises(PlanError):
        wanted(tolerations=("a:Never",))


def test_the_report_comes_back_by_the_log_or_stays_on_a_claim() -> None:
    """With a claim nothing is printed and the volume is the claim; without one the archive is."""
    (container,) = pod_spec()["containers"]
    assert "--archive=-" in container["args"]
    assert {"name": "results", "emptyDir": {}} in pod_spec()["volumes"]
    kept = pod_spec(claim="reports")
    assert "--archive=-" not in kept["containers"][0]["args"]
    assert {"name": "results", "persistentVolumeClaim": {"claimName": "reports"}} in kept["volumes"]
    kinds = [item["kind"] for item in objects(claim="reports")]
    assert "PersistentVolumeClaim" not in kinds
    assert "PersistentVolumeClaim" in [i["kind"] for i in objects(claim="r", claim_size="1Gi")]


def test_every_mount_has_its_volume() -> None:
    """Files, results and scratch; profile and baseline are named to the run where they are mounted."""
    spec = pod_spec(**EVERYTHING)
    (container,) = spec["containers"]
    assert {one["name"] for one in container["volumeMounts"]} == {
        one["name"] for one in spec["volumes"]
    }
    assert "--cluster-profile=/etc/nettests/cluster-profile.yaml" in container["args"]
    assert "--baseline=/etc/nettests/baseline.yaml" in container["args"]


def test_the_webhook_comes_from_a_secret() -> None:
    """Its address stands in no object; the variable refers to the Secret."""
    (container,) = pod_spec(webhook_secret="hook")["containers"]
    reference = {"secretKeyRef": {"name": "hook", "key": "url"}}
    assert container["env"] == [{"name": "NETTESTS_WEBHOOK", "valueFrom": reference}]
    assert "env" not in pod_spec()["containers"][0]


def test_the_users_words_come_last() -> None:
    """So that pytest's own, after a second ``--``, stay at the end; the namespace is named to the namespaced run alone."""
    words = run_arguments(wanted(role=Role.NAMESPACED, namespace="staging", arguments=("--flow=x", "--", "-x")))  # fmt: skip
    assert words[0] == "run"
    assert words[-3:] == ["--flow=x", "--", "-x"]
    assert "--namespace=staging" in words
    assert not [word for word in run_arguments(wanted()) if word.startswith("--namespace")]
