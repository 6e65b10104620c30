"""The published admission policy, its expressions evaluated: what a run does passes, what it claims to bound does not."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from ruamel.yaml import YAML

from nettests import probes
from nettests.cluster.owner_marks import lease_object
from nettests.model.check import Plan
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.json_text import Object
from nettests.model.versions import KubernetesVersion
from nettests.model.words import CheckClass, Question
from nettests.model.workload import Workload
from nettests.plan import build, load
from nettests.probes.examine import tried
from nettests.resources import manifests_path, suites_path
from nettests.session.prepare import blank_of
from nettests.session.run_objects import ownership
from tests.cluster.admission import Policy, Requested
from tests.plan.clusters import mixed

RUN = "20261121-140400-k7m2"
OWN = f"nettests-{RUN}"
FACTS = replace(mixed(), server_version=KubernetesVersion(1, 33))
OPERATIONS = {"create": "CREATE", "update": "UPDATE", "patch": "UPDATE", "delete": "DELETE"}


def documents(name: str) -> list[Object]:
    """Return the objects of a file in ``manifests/rbac``."""
    text = (manifests_path() / "rbac" / f"{name}.yaml").read_text("utf-8")
    return list(YAML(typ="safe").load_all(text))


ELSEWHERE = "a run works in namespaces called nettests-* alone"
POLICY = Policy(documents("admission")[0]["spec"])


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Every shipped flow, of all classes, on Linux and Windows nodes."""
    return build(FACTS, load([suites_path()]).flows, list(CheckClass))


@pytest.fixture(scope="module")
def made(plan: Plan) -> list[Object]:
    """Every object that a run of that plan creates, with pulled images and its Lease."""
    profile, marks = ClusterProfile(), ownership(RUN)
    profile = replace(profile, images=replace(profile.images, pre_pull=True))
    blank = blank_of(marks.labels, profile, FACTS, OWN)
    items = probes.rendered(plan, FACTS, blank)
    return [marks.marked(one) for one in (*items, lease_object(marks, OWN, 30))]


def of(item: Object, operation: str) -> Requested:
    """Return the request by which an object is created or deleted."""
    group, _, _ = item["apiVersion"].rpartition("/")
    kind = item["kind"].lower()
    namespaced = kind != "namespace"
    return Requested(
        operation=operation,
        resource=f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s",
        group=group,
        name=item["metadata"]["name"],
        namespace=item["metadata"]["namespace"] if namespaced else "",
        item=item if operation != "DELETE" else None,
    )


@pytest.mark.parametrize("operation", ["CREATE", "DELETE"])
def test_all_that_a_run_makes_and_removes_passes(made: list[Object], operation: str) -> None:
    """Every object of every shipped flow, each of which the policy is tested about, and its end."""
    probed = [of(item, operation) for item in made]
    assert {one.resource for one in probed} == {
        *("namespaces", "pods", "services", *(kind.plural for kind in Workload)),
        *("leases", "networkpolicies", "endpointslices"),
    }
    assert [one for one in probed if not POLICY.covers(one)] == []
    told = {f"{one.resource}/{one.name}": POLICY.refusals(one) for one in probed}
    assert {name: why for name, why in told.items() if why} == {}
    addresses = [item["spec"].get("externalIPs") for item in made if item["kind"] == "Service"]
    assert any(addresses), "the shipped flows query externalIPs"


def test_all_that_a_run_tries_out_is_left_to_the_api_server(plan: Plan) -> None:
    """Objects of dry runs pass at home, whatever their fields: which of them are taken is what checks target."""
    items = [
        tried(check.action, OWN, "privileged")
        for check in plan.checks
        if check.action.question is Question.ADMIT and check.action.case is not None
    ]
    assert len(items) > 20
    kept = []
    for item in items:
        probed = of(item, "CREATE")
        assert POLICY.refusals(replace(probed, dry_run=True)) == []
        assert POLICY.refusals(replace(probed, dry_run=True, namespace="default")) == [ELSEWHERE]
        kept += POLICY.refusals(probed)
    assert kept, "some of them would be refused, were they to be stored"


def test_a_run_renews_its_lease_and_runs_commands_at_home() -> None:
    """Updates of the Lease, exec, port-forward and proxy in the run's own namespace pass."""
    lease = Requested(
        operation="UPDATE",
        resource="leases",
        group="coordination.k8s.io",
        name="nettests",
        namespace=OWN,
        item={"spec": {}},
    )
    assert POLICY.covers(lease)
    assert POLICY.refusals(lease) == []
    for way in ("pods/exec", "pods/attach", "pods/portforward", "pods/proxy"):
        probed = Requested(
            operation="CONNECT",
            resource=way,
            name="probe",
            namespace=OWN,
            item={"kind": "PodExecOptions", "command": ["x"]},
        )
        assert POLICY.covers(probed)
        assert POLICY.refusals(probed) == []


@pytest.mark.parametrize("place", ["kube-system", "default", "nettests", "my-nettests-x", ""])
def test_nothing_is_written_elsewhere(made: list[Object], place: str) -> None:
    """What a run makes at home is refused in any other namespace, and so is its end, and a command there."""
    for item in {item["kind"]: item for item in made}.values():
        for operation in ("CREATE", "UPDATE", "DELETE"):
            probed = of(item, operation)
            if probed.resource == "namespaces":
                moved = replace(probed, name=place)
            else:
                moved = replace(probed, namespace=place)
            assert ELSEWHERE in POLICY.refusals(moved), (operation, probed.resource, place)
    for way in ("exec", "attach", "portforward", "proxy"):
        probed = Requested(
            operation="CONNECT", resource=f"pods/{way}", name="p", namespace=place, item={}
        )
        assert POLICY.refusals(probed) == [ELSEWHERE]


def granted() -> Iterator[Requested]:
    """Yield a request elsewhere for all that full.yaml lets one write, or connect to."""
    for role in documents("full"):
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    for verb in rule["verbs"]:
                        way = resource.partition("/")[2] in {
                            "exec",
                            "attach",
                            "portforward",
                            "proxy",
                        }
                        operation = "CONNECT" if way else OPERATIONS.get(verb)
                        if operation:
                            yield Requested(
                                operation=operation,
                                resource=resource,
                                group=group,
                                name="x",
                                namespace="" if resource == "namespaces" else "kube-system",
                                item={"spec": {}},
                            )


def test_every_right_of_the_full_role_to_write_is_bounded() -> None:
    """No verb and no kind of the role leads around the policy."""
    probed = list(granted())
    assert len(probed) > 12
    for one in probed:
        assert ELSEWHERE in POLICY.refusals(one), one


def service(*addresses: str) -> Requested:
    """Return the making of a Service with these externalIPs at home."""
    spec: Object = {"ports": [{"port": 80}], **({"externalIPs": [*addresses]} if addresses else {})}
    return Requested(
        operation="CREATE", resource="services", name="s", namespace=OWN, item={"spec": spec}
    )


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_external_addresses_are_nobodys(operation: str) -> None:
    """Documentation addresses pass, any other is refused, also beside one that passes."""
    for passing in (service(), service("192.0.2.7"), service("192.0.2.7", "192.0.2.254")):
        assert POLICY.refusals(replace(passing, operation=operation)) == []
    for other in (
        *(service("10.0.0.1"), service("192.0.2.7", "8.8.8.8"), service("192.0.20.1")),
        *(service("::ffff:192.0.2.1"), service("2001:db8::1")),
    ):
        assert POLICY.refusals(replace(other, operation=operation)) == [
            "externalIPs are documentation addresses alone (RFC 5737)"
        ]


PLAIN: Object = {"containers": [{"name": "c", "image": "i"}]}


@pytest.mark.parametrize(
    ("taken", "why"),
    [
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "mount nothing of their node"),
        (
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "v", "hostPath": {"path": "/x"}}]},
            "mount nothing of their node",
        ),
        ({"hostPID": True}, "see no processes of their node"),
        ({"hostIPC": True}, "see no processes of their node"),
        (
            {"containers": [{"name": "c", "securityContext": {"privileged": True}}]},
            "are not privileged",
        ),
        (
            {"initContainers": [{"name": "c", "securityContext": {"privileged": True}}]},
            "are not privileged",
        ),
    ],
)
@pytest.mark.parametrize("kind", [None, *Workload])
def test_pods_take_nothing_of_a_linux_node_but_its_network(
    kind: Workload | None, taken: Object, why: str
) -> None:
    """hostPath, the host's processes and privileges are refused, in a Pod and in what makes Pods."""
    item = {"spec": {**PLAIN, **taken}}
    if kind is not None:
        item = {"spec": {"template": item}}
    if kind is Workload.CRON_JOB:
        item = {"spec": {"jobTemplate": item}}
    probed = Requested(
        operation="CREATE",
        resource=kind.plural if kind else "pods",
        group=kind.group if kind else "",
        name="x",
        namespace=OWN,
        item=item,
    )
    told = POLICY.refusals(probed)
    assert len(told) == 1
    assert told[0].endswith(why)


def test_pods_may_have_the_network_of_their_node() -> None:
    """What a node vantage is made of passes, and fields that say no do not count as yes."""
    for spec in (
        {**PLAIN, "hostNetwork": True, "hostPID": False, "hostIPC": False},
        {**PLAIN, "securityContext": {"windowsOptions": {"hostProcess": True}}},
        {"containers": [{"name": "c", "securityContext": {"privileged": False}}], "volumes": []},
    ):
        item = {"spec": spec}
        probed = Requested(operation="CREATE", resource="pods", name="p", namespace=OWN, item=item)
        assert POLICY.refusals(probed) == []


@pytest.mark.parametrize("groups", [("system:masters", "system:authenticated"), ()])
def test_nobody_else_is_bounded(groups: tuple[str, ...]) -> None:
    """Other identities do as they like; one without any group is no error, which would refuse all it does."""
    for probed in granted():
        assert POLICY.refusals(replace(probed, groups=groups)) == []
