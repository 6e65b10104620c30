"""Names and DNS: every form of a name, every resolver, every DNS policy.

The Windows resolvers differ from each other, so each is tested separately: the system's (by connecting to a
name), nslookup, and Resolve-DnsName where the image or the node has it. The names of Pods, Services and
external hosts are tested in the modules about these targets.
"""

from nettests.model.dns_names import HEADLESS_FQDN, KUBERNETES_FQDN, NAMESPACE_DOMAIN, POD_FQDN
from nettests.model.expectation import Source
from nettests.model.words import OS, Outcome, Protocol, Question, Resolver, TargetKind, VantageKind
from nettests.plan import Matrix, NameForm, flow, pods

SERVICES = Source(
    document="Kubernetes documentation, DNS for Services and Pods", section="Services"
)
NAMESPACES = Source(
    document="Kubernetes documentation, DNS for Services and Pods",
    section="Namespaces of Services",
)
PODS = Source(
    document="Kubernetes documentation, DNS for Services and Pods",
    section="Pod's hostname and subdomain fields",
)
POLICY = Source(
    document="Kubernetes documentation, DNS for Services and Pods", section="Pod's DNS Policy"
)
CONFIG = Source(
    document="Kubernetes documentation, DNS for Services and Pods", section="Pod's DNS Config"
)
DEBUGGING = Source(
    document="Kubernetes documentation, Debugging DNS Resolution",
    section="Are DNS endpoints exposed?",
)
ON_WINDOWS = Source(
    document="Kubernetes documentation, DNS for Services and Pods",
    section="DNS resolution on Windows nodes",
)

MOUNTED = Source(document="resolv.conf(5)", section="search")
ON_REGISTRY = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Container networking on Windows",
    address="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)

DOMAIN = "mounted.example"
ANNOTATION = {
    "path": "resolv.conf",
    "fieldRef": {"fieldPath": f"metadata.annotations['{pods.annotation('dns')}']"},
}
PLACES = {
    OS.LINUX: {"mountPath": "/etc/resolv.conf", "subPath": "resolv.conf"},
    OS.WINDOWS: {"mountPath": "/etc"},  # Windows mounts whole volumes only
}
OWN_FILE = tuple(
    pods.after(
        "resolv-conf",
        pods.annotated(
            pods.pod(
                pods.container(volumeMounts=[{"name": "dns", **place}]),
                volumes=[{"name": "dns", "downwardAPI": {"items": [ANNOTATION]}}],
            ),
            dns=f"search {DOMAIN}\nnameserver 192.0.2.53\n",
        ),
        "exec",
        *("/agnhost", "dns-suffix"),
        says=DOMAIN,
        os=system,
    )
    for system, place in PLACES.items()
)
UNUSUAL_SERVER = "192.0.2.53"
"""A name server that no cluster has: an address for documentation, which nothing is sent to."""
NAMING_A_SERVER = pods.pod(
    dnsPolicy="None", dnsConfig={"nameservers": [UNUSUAL_SERVER], "searches": [DOMAIN]}
)
EVERY = (Resolver.SYSTEM, Resolver.NSLOOKUP, Resolver.RESOLVE_DNSNAME)


@flow(
    "dns-other-namespace",
    source=VantageKind.POD,
    target=TargetKind.KUBERNETES_SERVICE,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(NameForm(template=KUBERNETES_FQDN, resolvers=EVERY),),
    facts=("dns-fqdn",),
    sources=(NAMESPACES, ON_WINDOWS),
)
def test_dns_other_namespace() -> None:
    """A pod resolves a Service of another namespace by its fully qualified name."""


@flow(
    "dns-other-namespace-partial",
    source=VantageKind.POD,
    target=TargetKind.KUBERNETES_SERVICE,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(
        NameForm(label="svc.ns", template="kubernetes.default", resolvers=EVERY),
        NameForm(label="svc.ns.svc", template="kubernetes.default.svc", resolvers=EVERY),
    ),
    facts=("dns-between-forms", "dns-between-forms-nslookup", "dns-one-suffix"),
    sources=(NAMESPACES, ON_WINDOWS),
)
def test_dns_other_namespace_partial() -> None:
    """A pod resolves a Service of another namespace by the Service's name and its namespace."""


@flow(
    "dns-pod-name",
    source=VantageKind.POD,
    target=TargetKind.POD_NAME,
    matrix=Matrix.NEAREST,
    question=Question.RESOLVE,
    names=(NameForm(template=POD_FQDN, resolvers=EVERY),),
    facts=("dns-fqdn", "flow-pod-pod-name"),
    sources=(PODS,),
)
def test_dns_pod_name() -> None:
    """A pod resolves the name that hostname and subdomain give a pod to that pod's address."""


@flow(
    "dns-headless-service",
    source=VantageKind.POD,
    target=TargetKind.HEADLESS_NAME,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(NameForm(template=HEADLESS_FQDN, resolvers=EVERY),),
    facts=("dns-fqdn",),
    sources=(SERVICES,),
)
def test_dns_headless_service() -> None:
    """A pod resolves a headless Service to addresses of the Service's pods."""


@flow(
    "dns-no-such-name",
    source=VantageKind.POD,
    target=TargetKind.NO_NAME,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(
        NameForm(label="short", template="nosuch", resolvers=EVERY),
        NameForm(label="fqdn", template=f"nosuch.{NAMESPACE_DOMAIN}.", resolvers=EVERY),
    ),
    outcome=Outcome.NXDOMAIN,
    facts=("dns-fqdn", "dns-short-same-ns"),
    sources=(SERVICES,),
)
def test_dns_no_such_name() -> None:
    """A name that no Service has does not resolve, so a name that resolves means something."""


@flow(
    "dns-via-service",
    source=VantageKind.POD,
    target=TargetKind.DNS_SERVICE,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(NameForm(template=f"{KUBERNETES_FQDN}.", resolvers=(Resolver.NSLOOKUP,)),),
    facts=("dns-udp-via-vip",),
    sources=(DEBUGGING,),
)
def test_dns_via_service() -> None:
    """The cluster's DNS answers pods at its Service's address, over TCP and over UDP."""


@flow(
    "dns-loss",
    source=VantageKind.POD,
    target=TargetKind.DNS_SERVICE,
    matrix=Matrix.EACH,
    protocols=(Protocol.UDP,),
    question=Question.LOSS,
    names=(NameForm(template=f"{KUBERNETES_FQDN}.", resolvers=()),),
    facts=("dns-udp-via-vip",),
    sources=(DEBUGGING,),
)
def test_dns_loss() -> None:
    """Each of many queries that pods send to the cluster's DNS is answered: resolvers hide a loss by sending the query again."""


@flow(
    "dns-via-pod",
    source=VantageKind.POD,
    target=TargetKind.DNS_POD,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(NameForm(template=f"{KUBERNETES_FQDN}.", resolvers=(Resolver.NSLOOKUP,)),),
    facts=("dns-udp-via-vip",),
    sources=(DEBUGGING,),
)
def test_dns_via_pod() -> None:
    """The cluster's DNS answers pods at the address of one of its pods, over TCP and over UDP."""


@flow(
    "dns-policy-none",
    source=VantageKind.POD,
    target=TargetKind.KUBERNETES_SERVICE,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(NameForm(template="kubernetes", resolvers=EVERY),),
    dns_policy="None",
    facts=("dns-policy-none",),
    sources=(POLICY, CONFIG),
)
def test_dns_policy_none() -> None:
    """With dnsPolicy None a pod queries the servers of its dnsConfig and appends its search domains."""


@flow(
    "dns-policy-none-servers",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(
        pods.after(
            "nameservers",
            NAMING_A_SERVER,
            "exec",
            *("/agnhost", "dns-server-list"),
            says=UNUSUAL_SERVER,
        ),
    ),
    facts=("dns-policy-none",),
    sources=(POLICY, CONFIG),
)
def test_dns_policy_none_servers() -> None:
    """With dnsPolicy None a pod has the name servers of its dnsConfig, whatever servers other pods have."""


@flow(
    "dns-policy-default",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_NAME,
    matrix=Matrix.SOURCES,
    question=Question.RESOLVE,
    names=(NameForm(template="{external}", resolvers=EVERY),),
    dns_policy="Default",
    facts=("dns-policy-default",),
    sources=(POLICY,),
)
def test_dns_policy_default() -> None:
    """With dnsPolicy Default a pod resolves names outside the cluster as its node does."""


@flow(
    "dns-policy-default-cluster-name",
    source=VantageKind.POD,
    target=TargetKind.KUBERNETES_SERVICE,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.RESOLVE,
    names=(NameForm(template=KUBERNETES_FQDN, resolvers=EVERY),),
    outcome=Outcome.NXDOMAIN,
    dns_policy="Default",
    facts=("dns-policy-default",),
    sources=(POLICY,),
)
def test_dns_policy_default_cluster_name() -> None:
    """With dnsPolicy Default a Windows pod queries its node's servers, which know no names of the cluster."""


@flow(
    "dns-policy-host-network",
    source=VantageKind.NODE,
    target=TargetKind.KUBERNETES_SERVICE,
    matrix=Matrix.EACH,
    question=Question.RESOLVE,
    names=(
        NameForm(
            template=KUBERNETES_FQDN,
            resolvers=(Resolver.NSLOOKUP, Resolver.RESOLVE_DNSNAME),
        ),
    ),
    dns_policy="ClusterFirstWithHostNet",
    facts=("dns-clusterfirstwithhostnet",),
    sources=(POLICY,),
)
def test_dns_policy_host_network() -> None:
    """With ClusterFirstWithHostNet a pod in its node's network resolves names of the cluster."""


@flow(
    "node-to-external-name",
    source=VantageKind.NODE,
    target=TargetKind.EXTERNAL_NAME,
    matrix=Matrix.SOURCES,
    question=Question.RESOLVE,
    names=(
        NameForm(template="{external}", resolvers=(Resolver.NSLOOKUP, Resolver.RESOLVE_DNSNAME)),
    ),
    facts=("dns-resolver-recommendation", "flow-hostprocess-pod-net"),
    sources=(ON_WINDOWS,),
)
def test_node_to_external_name() -> None:
    """A node resolves names outside the cluster, by every resolver that it has."""


@flow(
    "dns-mounted-file",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=OWN_FILE,
    facts=("dns-no-resolvconf-file",),
    sources=(MOUNTED, ON_REGISTRY),
)
def test_dns_mounted_file() -> None:
    """A pod that mounts its own resolv.conf has the DNS suffixes of that file."""
