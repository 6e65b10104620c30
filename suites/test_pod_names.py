"""Names inside a Pod: how its own fields change its hosts file and its host name.

Each check creates its own Pod and runs a program inside it; it counts only if a plain Pod starts on the same node.
"""

from nettests.model.expectation import Source
from nettests.model.words import OS, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, ServiceSettings, flow, pods

HOSTS = Source(
    document="Kubernetes documentation, Adding entries to Pod /etc/hosts with HostAliases",
    section="Adding additional entries with hostAliases",
    address="https://kubernetes.io/docs/tasks/network/customize-hosts-file-for-pods/",
)
FQDN = Source(
    document="Kubernetes documentation, DNS for Services and Pods",
    section="Pod's setHostnameAsFQDN field",
    address="https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/",
)
REGISTRY = Source(
    document="Kubernetes API reference, Pod v1",
    section="setHostnameAsFQDN",
    address="https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/",
)
STABLE = Source(
    document="Kubernetes documentation, StatefulSets",
    section="Stable Network ID",
    address="https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id",
)

KEY = r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
ALIAS = "alias.nettests.example"
ALIASES = pods.pod(
    pods.server(), hostname="witness", hostAliases=[{"ip": "127.0.0.1", "hostnames": [ALIAS]}]
)
WHOLE_NAME = pods.pod(hostname="w", subdomain="own", setHostnameAsFQDN=True)


@flow(
    "pod-host-aliases",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(
        pods.after(
            "alias-of-localhost",
            ALIASES,
            "exec",
            *("curl", "-sS", "-m", "5", f"http://{ALIAS}:{pods.HTTP}/hostname"),
            says="witness",
        ),
    ),
    facts=("dns-hosts-file",),
    sources=(HOSTS,),
)
def test_pod_host_aliases() -> None:
    """A container resolves the names that its Pod's hostAliases add to the hosts file."""


@flow(
    "pod-hostname-fqdn",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(
        pods.after("hostname", WHOLE_NAME, "exec", "hostname", says="w.own."),
        pods.after(
            "registry", WHOLE_NAME, "exec", "reg.exe", "query", KEY, says="w.own.", os=OS.WINDOWS
        ),
    ),
    facts=("dns-hostname-fqdn",),
    sources=(FQDN, REGISTRY),
)
def test_pod_hostname_fqdn() -> None:
    """With setHostnameAsFQDN a container's host name, on Windows its registry's, is its Pod's fully qualified name."""


@flow(
    "stateful-set-names",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(pods.stateful("same-name-again"),),
    service=ServiceSettings(label="stateful", headless=True, no_endpoints=True),
    facts=("plat-statefulset",),
    sources=(STABLE,),
)
def test_stateful_set_names() -> None:
    """A deleted Pod of a StatefulSet is recreated under the same name, as host name and in DNS."""
