"""Nothing that is reachable from outside the pod network runs commands, in whatever a run creates."""

from typing import Any

import pytest

from nettests.errors import DeployError
from nettests.model.words import CheckClass
from nettests.plan import build
from nettests.probes import objects
from nettests.probes.deploy import refuse_commands
from nettests.probes.exposure import exposed_ports
from nettests.probes.start_objects import pods_of
from tests.facts import PROFILES, cluster_facts
from tests.manifests.shipped import flows

BLANK = objects.Blank(namespace="nettests-r", labels={"nettests.dev/run": "r"})


def rendered(profile: str) -> list[dict[str, Any]]:
    """Return every object of a run of all classes on a profile of the lab."""
    facts = cluster_facts(profile)
    plan = build(facts, flows(), frozenset(CheckClass))
    return [*objects.resident(plan, facts, BLANK), *pods_of(plan, facts, BLANK)]


def container(*args: str, **fields: Any) -> dict[str, Any]:
    """Return a container of the probe image."""
    return {"name": "c", "args": list(args), **fields}


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a pod that Services may select."""
    metadata = {"name": "p", "labels": {"app": "p"}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": list(containers), **spec}}


def service(kind: str, target: int | str = 8080, **spec: Any) -> dict[str, Any]:
    """Return a Service in front of that pod."""
    ports = [{"port": 80, "targetPort": target}]
    made = {"type": kind, "selector": {"app": "p"}, "ports": ports, **spec}
    return {"kind": "Service", "metadata": {"name": "s"}, "spec": made}


NETEXEC = container("netexec")
HOST_PROCESS = {"windowsOptions": {"hostProcess": True}}
EXPOSING = {
    "node port": [pod(NETEXEC), service("NodePort")],
    "load balancer": [pod(NETEXEC), service("LoadBalancer")],
    "external address": [pod(NETEXEC), service("ClusterIP", externalIPs=["198.51.100.1"])],
    "named port": [
        pod(container("netexec", ports=[{"name": "web", "containerPort": 8080}])),
        service("NodePort", "web"),
    ],
    "host network": [pod(NETEXEC, hostNetwork=True)],
    "host process": [pod(NETEXEC, securityContext=HOST_PROCESS)],
    "container on the host": [pod({**NETEXEC, "securityContext": HOST_PROCESS})],
    "host port": [pod({**NETEXEC, "ports": [{"containerPort": 8080, "hostPort": 8080}]})],
    "beside a harmless container": [pod(container("pause"), NETEXEC, hostNetwork=True)],
}
HARMLESS = {
    "pod network": [pod(NETEXEC)],
    "cluster address": [pod(NETEXEC), service("ClusterIP")],
    "another port": [pod(NETEXEC), service("NodePort", 9999)],
    "overridden": [pod(container("netexec", "--http-override=/hostname"), hostNetwork=True)],
    "nothing listens": [pod(container("pause"), hostNetwork=True)],
}


@pytest.mark.parametrize("name", EXPOSING)
def test_whatever_exposes_a_shell_is_refused_before_anything_is_created(name: str) -> None:
    """A full netexec behind any way in from outside the pod network stops the run with its name."""
    with pytest.raises(DeployError, match="runs commands for anybody"):
        refuse_commands(EXPOSING[name])


@pytest.mark.parametrize("name", HARMLESS)
def test_servers_that_give_nothing_else_may_be_exposed(name: str) -> None:
    """A full netexec inside the pod network, and an overridden one anywhere, are let through."""
    refuse_commands(HARMLESS[name])


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_no_object_of_any_profile_exposes_a_shell_or_carries_a_token(profile: str) -> None:
    """Of all that a run of every class creates, ports are exposed, none of which runs commands."""
    items = rendered(profile)
    refuse_commands(items)
    assert exposed_ports(items)
    for item in items:
        if item["kind"] == "Pod":
            assert item["spec"]["automountServiceAccountToken"] is False


@pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"linux"}))
def test_what_stands_on_a_node_gives_nobody_a_command(profile: str) -> None:
    """HostProcess containers are SYSTEM, since only SYSTEM may copy agnhost: they name their host, or only wait."""
    users = set()
    for item in rendered(profile):
        if item["kind"] != "Pod":
            continue
        options = item["spec"].get("securityContext", {}).get("windowsOptions", {})
        for one in item["spec"]["containers"] if options.get("hostProcess") else ():
            own = one.get("securityContext", {}).get("windowsOptions", {})
            user = own.get("runAsUserName", options["runAsUserName"])
            users.add(user)
            overridden = "--http-override=/hostname" in one["args"]
            assert one["args"] == ["pause"] or overridden
    assert users == {"NT AUTHORITY\\SYSTEM"}
