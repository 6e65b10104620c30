"""What preflight says: each topic where it blocks a run, where it does not, and what it says then."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from ipaddress import ip_address

import pytest

from nettests.errors import ClusterError
from nettests.model.facts import ClusterFacts, Fact, Taint, known
from nettests.model.permission import LIST_NODES, copying
from nettests.model.versions import KubernetesVersion
from nettests.model.words import Family
from nettests.preflight import Evidence, Finding, Level, findings, unreachable
from nettests.preflight.evidence import Remains
from nettests.preflight.rights import without_nodes
from tests.plan.clusters import cluster, mixed, node, without
from tests.preflight.made import STAGING, evidence, finding, only, quota

HEALTHY = evidence()
UNWELL = Taint(key="node.kubernetes.io/network-unavailable")
NEEDING_NODES = only("node-to-pod")
TAKEN = replace(mixed(), privileged=Fact(value=True, origin="a dry run"))
REFUSED = replace(
    mixed(), privileged=Fact(value=False, origin="Forbidden: disallowed by cluster policy")
)


def with_nodes(facts: ClusterFacts, **changes: object) -> ClusterFacts:
    """Return the facts with every node changed alike."""
    return replace(facts, nodes=tuple(replace(one, **changes) for one in facts.nodes))  # type: ignore[arg-type]


def one_unready(facts: ClusterFacts) -> ClusterFacts:
    """Return the facts with the last node, a Windows one, not Ready."""
    return replace(facts, nodes=(*facts.nodes[:-1], replace(facts.nodes[-1], ready=False)))


def no_host_process() -> ClusterFacts:
    """Return a cluster of Windows nodes alone that have no HostProcess containers."""
    return cluster(
        node("windows-1", 1, host_process=False), node("windows-1", 2, host_process=False)
    )


def silent(resource: str) -> Evidence:
    """Return a namespace that limits a resource of which a run's containers say nothing."""
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    return replace(evidence(STAGING, quotas=quota(resource, 2**40)), objects=(pod,))


def remains(state: str, namespace: str) -> tuple[Remains, ...]:
    """Return what one other run has."""
    return (Remains(run="r1", owner="me", namespace=namespace, state=state, objects=3),)


def with_plugin(plugin: str | None, facts: ClusterFacts | None = None) -> Evidence:
    """Return the evidence of a cluster with a network plugin, or an unknown one."""
    facts = facts or mixed()
    return evidence(replace(facts, cni=replace(facts.cni, plugin=Fact(plugin, "test"))))


def of_ipv6_alone(way: int) -> Evidence:
    """Return the evidence of a cluster of IPv6 alone (1), or of one whose nodes have no other family (2)."""
    facts = mixed()
    if way == 1:
        return evidence(replace(facts, families=(Family.IPV6,)), flows=NEEDING_NODES)
    return evidence(with_nodes(facts, addresses=(ip_address("fd00::1"),)), flows=NEEDING_NODES)


Case = tuple[str, Callable[[], Evidence], Level, str]
CASES: tuple[Case, ...] = (
    ("version skew", lambda: HEALTHY, Level.OK, "fit Kubernetes"),
    (
        "version skew",
        lambda: evidence(with_nodes(mixed(), kubelet=known(KubernetesVersion(1, 21), "test"))),
        Level.BLOCKER,
        "newer than the API server",
    ),
    (
        "version skew",
        lambda: evidence(with_nodes(mixed(), kubelet=known(KubernetesVersion(1, 17), "test"))),
        Level.WARNING,
        "older than Kubernetes supports",
    ),
    ("network plugin", lambda: with_plugin("flannel"), Level.OK, "flannel is not known to lack"),
    ("network plugin", lambda: with_plugin("cilium"), Level.BLOCKER, "cilium has no agent"),
    ("network plugin", lambda: with_plugin("weave"), Level.BLOCKER, "documented as unsupported"),
    ("network plugin", lambda: with_plugin(None), Level.NOTE, "plugin is not known: test"),
    (
        "network plugin",
        lambda: with_plugin("cilium", without(without(mixed(), "windows-1"), "windows-2")),
        Level.OK,
        "no Windows node",
    ),
    ("network plugin", lambda: with_plugin("kubenet"), Level.BLOCKER, "kubenet has no agent"),
    ("address families", lambda: HEALTHY, Level.OK, "every Windows node has IPv4"),
    ("address families", lambda: of_ipv6_alone(1), Level.BLOCKER, "documented as unsupported"),
    ("address families", lambda: of_ipv6_alone(2), Level.BLOCKER, "documented as unsupported"),
    ("permissions", lambda: HEALTHY, Level.OK, "is allowed"),
    (
        "permissions",
        lambda: evidence(replace(mixed(), denied=("create pods",))),
        Level.BLOCKER,
        "1 permission missing",
    ),
    (
        "permissions",
        lambda: evidence(replace(mixed(), denied=("get pods/exec",))),
        Level.WARNING,
        "left out",
    ),
    (
        "permissions",
        lambda: replace(HEALTHY, missing=copying("default/regcred")),
        Level.BLOCKER,
        "2 permissions missing: 0 checks",
    ),
    (
        "permissions",
        lambda: evidence(replace(mixed(), denied=("list events",))),
        Level.NOTE,
        "0 checks",
    ),
    ("Pod Security", lambda: HEALTHY, Level.OK, "a namespace of the run's own"),
    ("Pod Security", lambda: evidence(STAGING), Level.OK, "allows all Pods"),
    (
        "Pod Security",
        lambda: evidence(STAGING, refusals={"pod-linux": "a policy", "pod-windows": "a policy"}),
        Level.BLOCKER,
        "staging is at level privileged",
    ),
    (
        "Pod Security",
        lambda: evidence(replace(STAGING, pod_security=known("baseline", "a dry run"))),
        Level.WARNING,
        "staging is at level baseline",
    ),
    (
        "Pod Security",
        lambda: evidence(
            replace(STAGING, pod_security=known("baseline", "a dry run")), NEEDING_NODES
        ),
        Level.BLOCKER,
        "staging is at level baseline",
    ),
    (
        "privileged Pods",
        lambda: HEALTHY,
        Level.NOTE,
        "it is not known whether the API server accepts them: it was not run",
    ),
    ("privileged Pods", lambda: evidence(TAKEN), Level.OK, "accepts privileged"),
    ("privileged Pods", lambda: evidence(REFUSED), Level.WARNING, "left out"),
    (
        "privileged Pods",
        lambda: evidence(REFUSED, only("hostprocess-pod-rules")),
        Level.BLOCKER,
        "3 checks left out",
    ),
    (
        "privileged Pods",
        lambda: evidence(REFUSED, only("pod-to-pod-ip")),
        Level.NOTE,
        "0 checks left out",
    ),
    ("nodes", lambda: HEALTHY, Level.OK, "4 nodes can hold probes"),
    ("nodes", lambda: evidence(with_nodes(mixed(), ready=False)), Level.BLOCKER, "no node"),
    (
        "nodes",
        lambda: evidence(without(mixed(), "windows-1")),
        Level.WARNING,
        "no Windows node is usable",
    ),
    (
        "nodes",
        lambda: evidence(one_unready(mixed())),
        Level.WARNING,
        "-x7 not Ready and not cordoned: they are not tested",
    ),
    ("components", lambda: HEALTHY, Level.OK, "are Ready"),
    (
        "components",
        lambda: replace(
            HEALTHY, lacking_agents=("kube-system/kube-proxy is Ready on 1 of 2 nodes",)
        ),
        Level.WARNING,
        "kube-system/kube-proxy is Ready on 1 of 2 nodes",
    ),
    (
        "components",
        lambda: evidence(replace(mixed(), dns_pods=Fact(None, "none is Ready"))),
        Level.WARNING,
        "no Ready Pod of the cluster's DNS",
    ),
    (
        "components",
        lambda: replace(HEALTHY, unready={mixed().nodes[-1].name: 4}),
        Level.NOTE,
        "others' Pods are not Ready",
    ),
    ("taints", lambda: HEALTHY, Level.OK, "no usable node is tainted"),
    (
        "taints",
        lambda: evidence(with_nodes(mixed(), taints=(Taint(key="os", value="windows"),))),
        Level.NOTE,
        "probes tolerate",
    ),
    ("taints", lambda: evidence(with_nodes(mixed(), taints=(UNWELL,))), Level.BLOCKER, "tainted"),
    (
        "taints",
        lambda: evidence(
            replace(
                mixed(), nodes=(replace(mixed().nodes[0], taints=(UNWELL,)), *mixed().nodes[1:])
            )
        ),
        Level.WARNING,
        "node-linux-1-1-x7 is tainted",
    ),
    ("images", lambda: evidence(images={"node-linux-1-1-x7": "a:1"}), Level.OK, "a:1"),
    (
        "images",
        lambda: evidence(
            with_nodes(mixed(), left_out="not served: too old"),
            unserved={one.name: "too old" for one in mixed().nodes},
        ),
        Level.BLOCKER,
        "no image serves",
    ),
    (
        "images",
        lambda: evidence(unserved={"node-windows-1-1-x7": "too old"}),
        Level.WARNING,
        "no image serves node-windows-1-1-x7",
    ),
    ("HostProcess", lambda: HEALTHY, Level.OK, "2 Windows nodes can run them"),
    (
        "HostProcess",
        lambda: evidence(no_host_process()),
        Level.WARNING,
        "2 of 2 Windows nodes cannot",
    ),
    (
        "HostProcess",
        lambda: evidence(no_host_process(), NEEDING_NODES),
        Level.BLOCKER,
        "2 of 2 Windows nodes cannot",
    ),
    ("node vantages", lambda: HEALTHY, Level.OK, "checks from node-linux-1-1-x7"),
    (
        "node vantages",
        lambda: evidence(replace(mixed(), denied=("get pods/exec",))),
        Level.WARNING,
        "from nodes cannot be tested",
    ),
    (
        "node vantages",
        lambda: evidence(replace(mixed(), denied=("get pods/exec",)), NEEDING_NODES),
        Level.BLOCKER,
        "from nodes cannot be tested",
    ),
    (
        "node vantages",
        lambda: evidence(ports={"node-linux-1-1-x7": {19080: "pod kube-system/other"}}),
        Level.BLOCKER,
        "are in use",
    ),
    (
        "node vantages",
        lambda: evidence(mixed(), only("pod-to-pod-ip")),
        Level.NOTE,
        "none is needed",
    ),
    ("quota", lambda: HEALTHY, Level.OK, "own has none"),
    ("quota", lambda: evidence(STAGING), Level.OK, "staging has none"),
    ("quota", lambda: evidence(STAGING, quotas=quota("pods", 200)), Level.OK, "leaves enough"),
    ("quota", lambda: evidence(STAGING, quotas=quota("pods", 200, 199)), Level.BLOCKER, "no room"),
    (
        "quota",
        lambda: evidence(STAGING, quotas=quota("services.nodeports", 2)),
        Level.BLOCKER,
        "no room",
    ),
    (
        "quota",
        lambda: evidence(STAGING, quotas=quota("limits.cpu", 640)),
        Level.OK,
        "leaves enough",
    ),
    ("quota", lambda: evidence(STAGING, quotas=quota("limits.cpu", 6)), Level.BLOCKER, "no room"),
    ("quota", lambda: silent("limits.cpu"), Level.BLOCKER, "no room"),
    ("quota", lambda: silent("memory"), Level.BLOCKER, "no room"),
    (
        "quota",
        lambda: replace(silent("limits.cpu"), defaults={"limits.cpu": Fraction(1)}),
        Level.OK,
        "leaves enough",
    ),
    ("quota", lambda: evidence(STAGING, unread="403"), Level.NOTE, "cannot be read: 403"),
    ("leftovers", lambda: HEALTHY, Level.OK, "nothing is left"),
    (
        "leftovers",
        lambda: evidence(STAGING, remains=remains("alive", "staging")),
        Level.BLOCKER,
        "staging is held by run r1",
    ),
    (
        "leftovers",
        lambda: evidence(STAGING, remains=remains("dead", "staging")),
        Level.WARNING,
        "1 run left objects behind",
    ),
    (
        "leftovers",
        lambda: evidence(remains=remains("alive", "nettests-r1")),
        Level.WARNING,
        "1 run left objects behind",
    ),
    ("leftovers", lambda: evidence(unlisted="403"), Level.NOTE, "cannot be looked for: 403"),
    ("exposure", lambda: HEALTHY, Level.OK, "nothing is reachable"),
    ("exposure", lambda: evidence(exposed=("NodePort 80",)), Level.NOTE, "are reachable"),
)


@pytest.mark.parametrize(
    ("topic", "made", "level", "said"),
    CASES,
    ids=[f"{c[0]}-{c[2]}-{n}" for n, c in enumerate(CASES)],
)
def test_what_is_said(topic: str, made: Callable[[], Evidence], level: Level, said: str) -> None:
    """Each topic has its level and its words."""
    found = finding(topic, made())
    assert (found.level, said in found.summary) == (level, True), found


def test_every_topic_is_shown_with_and_without_a_blocker() -> None:
    """All topics that can block have a case that does and one that does not."""
    levels: dict[str, set[Level]] = {}
    for topic, _, level, _ in CASES:
        levels.setdefault(topic, set()).add(level)
    # Without an answer there is no evidence (below), what a run exposes, what a cluster is, and what sees its Pods is a
    # user's to judge, and of components that are not Ready a run shows what that does.
    never = {"reachability", "platform", "webhooks", "exposure", "components"}
    topics = {one.topic for one in findings(HEALTHY)} - never
    for topic in topics:
        assert Level.BLOCKER in levels[topic], topic
        assert levels[topic] - {Level.BLOCKER}, topic


def test_a_cluster_that_does_not_answer_blocks() -> None:
    """The error is the finding, with its next step."""
    found = unreachable(ClusterError("it cannot be reached", hint="is it up?"))
    assert found == Finding(
        topic="reachability",
        level=Level.BLOCKER,
        summary="it cannot be reached",
        next_step="is it up?",
    )
    assert finding("reachability", HEALTHY).level is Level.OK


@pytest.mark.parametrize("way", [1, 2])
def test_only_where_the_cluster_has_ipv6_alone_is_anything_skipped(way: int) -> None:
    """Of nodes without IPv4 in a cluster that has it no check is left out, and none is said to be."""
    found = findings(of_ipv6_alone(way))
    (one,) = [each for each in found if each.topic == "address families"]
    assert ("are skipped" in " ".join(one.details)) is (way == 1)


def test_an_identity_that_may_not_list_nodes_is_told_everything_that_is_missing() -> None:
    """Nothing can be planned then, so that the whole list is told."""
    found = without_nodes((LIST_NODES,))
    assert found.level is Level.BLOCKER
    assert found.details == ("list nodes",)


def test_each_missing_permission_says_what_it_costs() -> None:
    """Checks by number, or what is known less."""
    facts = replace(
        mixed(), denied=("get pods/exec", "list events", "get pods/log in namespace kube-system")
    )
    details = finding("permissions", evidence(facts)).details
    by_name = dict(line.split(": ", 1) for line in details)
    assert by_name["get pods/exec"].endswith("flows")
    assert "less exactly" in by_name["list events"]
    lost = int(by_name["get pods/exec"].split()[0])
    whole = evidence()
    assert lost == len(whole.plan.checks) - len(
        evidence(replace(mixed(), denied=("get pods/exec",))).plan.checks
    )


def test_clashes_name_port_node_and_pod() -> None:
    """Who has to move is said."""
    found = finding(
        "node vantages", evidence(ports={"node-linux-1-1-x7": {19080: "pod kube-system/other"}})
    )
    assert found.details == ("node-linux-1-1-x7: port 19080 is held by pod kube-system/other",)
