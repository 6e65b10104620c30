"""The kinds of faults, with the options and the effect of each. Values.

Help, reference and the validation of options read this table; ``registry`` has an action for each row.
"""

from dataclasses import dataclass

from nettests.lab.programs.windows.broken_tools import broken_tools

WIRE = ("node", "from", "to", "protocol", "port", "larger-than", "rate")
"""Options that choose packets: between which ends, and of which kind."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault; of its options those in ``needs`` have to be given."""

    name: str
    summary: str
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def synopsis(self) -> str:
        """Name and options as a command line has them."""
        words = [f"--{need} {_PLACES[need]}" for need in self.needs]
        words += [
            f"[--{option} {_PLACES[option]}]" for option in self.options if option not in self.needs
        ]
        return " ".join((self.name, *words))


_PLACES = {
    "node": "N",
    "peer": "N",
    "from": "N",
    "to": "N",
    "pod": "P",
    "text": "TEXT",
    "service": "[NS/]S",
    "port": "P",
    "protocol": "tcp",
    "larger-than": "BYTES",
    "every": "K",
    "connections": "N",
    "services": "N",
    "beyond": "K",
    "rate": "R",
    "seconds": "S",
    "jitter": "S",
    "bytes": "B",
    "vni": "V",
    "seed": "X",
    "code": "N",
    "program": "NAME",
    "controller": "NAME",
    "object": "KIND/[NS/]NAME",
    "patch": "JSON",
    "match": "JSON",
}
"""What stands for a value in help."""

KINDS = (
    Kind(
        "packet-loss", "packets between nodes are lost, a share of them, or those of a kind", WIRE
    ),
    Kind(
        "packet-delay",
        "packets between nodes come late, by some seconds and up to the jitter more",
        (*WIRE[:-1], "seconds", "jitter", "seed"),
    ),
    Kind(
        "packet-reordering",
        "one packet of so many between nodes is overtaken by those behind it",
        (*WIRE[:-1], "every", "seconds", "seed"),
    ),
    Kind(
        "connection-loss",
        "one of so many new connections to a node's pods is never answered",
        ("node", "every", "protocol", "port"),
        ("node",),
    ),
    Kind(
        "ports-run-out",
        "a node's pods have so many connections at most (1000), each counted for so many seconds (30) from its first packet; "
        "those beyond are never answered",
        ("node", "connections", "seconds"),
        ("node",),
    ),
    Kind(
        "small-mtu",
        "a node's network card carries smaller packets, and says so by ICMP",
        ("node", "bytes"),
        ("node",),
    ),
    Kind(
        "route-missing",
        "a node has no route to the pods of another",
        ("node", "peer"),
        ("node", "peer"),
    ),
    Kind(
        "other-vni",
        "a node's VXLAN packets have another network id, and it understands no other",
        ("node", "vni"),
        ("node",),
    ),
    Kind(
        "not-encapsulated",
        "a node of an overlay sends its pods' packets as they are",
        ("node",),
        ("node",),
    ),
    Kind(
        "source-rewritten",
        "pods of other nodes see a node's address instead of its pods'",
        ("node",),
        ("node",),
    ),
    Kind(
        "sources-disguised",
        "a node's pods have other addresses on the wire, and the nodes that they reach put theirs back: no server notices",
        ("node",),
        ("node",),
    ),
    Kind(
        "network-id-disguised",
        "a node's tunnels have another network id on the wire, and the nodes that they reach put the right one back: no server notices",
        ("node", "vni"),
        ("node",),
    ),
    Kind(
        "macs-kept",
        "packets of a node's pods leave it with the pods' own MAC addresses: no server notices",
        ("node",),
        ("node",),
    ),
    Kind(
        "hairpin-broken",
        "what a pod sends to itself by way of a Service is lost",
        ("node",),
    ),
    Kind(
        "host-silent",
        "what a node itself sends to pods of other nodes is lost",
        ("node",),
        ("node",),
    ),
    Kind(
        "idle-flows-forgotten",
        "TCP connections of a node's pods to Services are lost when they were idle for so many seconds (6)",
        ("node", "seconds"),
        ("node",),
    ),
    Kind(
        "idle-outside-flows-forgotten",
        "TCP connections of a node's pods to the outside are lost when they were idle for so many seconds (6)",
        ("node", "seconds"),
        ("node",),
    ),
    Kind(
        "pod-silent",
        "packets to pods of that name are lost, a share of them, or those of a kind; they stay Ready",
        ("pod", "protocol", "port", "larger-than", "rate"),
        ("pod",),
    ),
    Kind(
        "service-rules-missing",
        "the node has no rules of the Service, or none of its port of that name",
        ("service", "node", "port"),
        ("service", "node"),
    ),
    Kind(
        "slow-rules",
        "new rules of Services come late, or only where there are more Services than so many",
        ("node", "seconds", "services"),
    ),
    Kind(
        "rules-run-out",
        "a node programs so many Services (200), and none that is made after them",
        ("node", "services"),
    ),
    Kind(
        "removed-services-kept",
        "the rules of Services that are removed stay",
        ("service", "node", "port"),
    ),
    Kind("proxy-stopped", "the Service proxy programs nothing new", ("node",), ("node",)),
    Kind(
        "stale-endpoint",
        "Services keep an endpoint whose pod has gone",
        ("service", "node", "port"),
    ),
    Kind("wrong-target-port", "backends are dialled at another port", ("service", "node", "port")),
    Kind(
        "one-backend", "all connections go to one of several backends", ("service", "node", "port")
    ),
    Kind("affinity-lost", "clients do not keep their backends", ("service", "node", "port")),
    Kind(
        "endpoints-frozen",
        "Services keep the endpoints that they had first, updates are ignored",
        ("service", "node", "port"),
    ),
    Kind(
        "shared-endpoints-lost",
        "Services lose their rules when another one over the same endpoints is deleted",
        ("service", "node", "port"),
    ),
    Kind(
        "readdressed-endpoints-lost",
        "Services lose endpoints whose Pod was replaced by another one at the same address",
        ("service", "node", "port"),
    ),
    Kind(
        "renamed-ports-lost",
        "ports of Services lose their rules when they get another name",
        ("service", "node", "port"),
    ),
    Kind(
        "rules-recreated",
        "whenever endpoints of a Service change it is without rules for so many seconds (0.3)",
        ("node", "seconds"),
    ),
    Kind(
        "udp-flows-kept",
        "flows of datagrams go on to endpoints that their Service no longer has",
        ("node",),
    ),
    Kind(
        "dsr-off",
        "a Windows node rewrites sources where it was told to keep them (DSR)",
        ("node",),
    ),
    Kind("dns-down", "packets to the DNS pod's port 53 are lost", ("rate", "protocol")),
    Kind("dns-upstream-down", "those to the resolver it forwards to"),
    Kind("dns-slow", "the cluster's DNS answers late", ("seconds",)),
    Kind("dns-frozen", "the cluster's DNS takes no news: new names do not exist"),
    Kind("dns-wildcard", "names that do not exist resolve to the outside host"),
    Kind(
        "dns-replica-wrong",
        "a second replica of the DNS stands beside the first and denies all names",
    ),
    Kind(
        "wrong-cluster-domain",
        "kubelets give new pods the suffixes of another cluster domain",
        ("node",),
    ),
    Kind(
        "late-pod-network",
        "a node's new Pods have no network for so many seconds (6) after they were attached to it; with --beyond only "
        "those that come when more than so many others came within 10 s",
        ("node", "seconds", "beyond"),
        ("node",),
    ),
    Kind(
        "no-sandbox",
        "new pods of that name get no sandbox, because the network plugin fails with that text (by default, of HNS)",
        ("pod", "node", "text"),
        ("pod",),
    ),
    Kind("slow-pull", "images are gone, and pulls take so long", ("node", "seconds")),
    Kind("registry-down", "images are gone, and no registry answers", ("node",)),
    Kind(
        "kubelet-silent",
        "a kubelet stops: no request of the API server to it is answered, and after so long (40) its node is "
        "NotReady; containers and packets go on",
        ("node", "seconds"),
        ("node",),
    ),
    Kind(
        "container-killed",
        "processes of new pods of that name are killed so long after they started, once",
        ("pod", "seconds"),
        ("pod",),
    ),
    Kind(
        "object-edited",
        "somebody edited a node, its status, a ConfigMap (a merge patch), or a DaemonSet (a strategic one, and its "
        "Pods are replaced)",
        ("object", "patch"),
        ("object", "patch"),
    ),
    Kind("channel-down", "exec, port-forward and pod proxy fail", ("node",)),
    Kind("exec-hangs", "exec never ends for its client, now and then", ("node", "rate", "seed")),
    Kind(
        "exit-code-lost",
        "exec ends without an exit code, now and then",
        ("node", "rate", "seed"),
    ),
    Kind(
        "wrong-exit-codes",
        "each command beside a container's own ends with that exit code (0), whatever it did",
        ("node", "code"),
    ),
    Kind("exec-refused", "no command can be started beside a container's own", ("node",)),
    Kind(
        "output-truncated", "so many bytes (1000) of a command's output arrive", ("node", "bytes")
    ),
    Kind("output-lost", "short commands beside a container's own lose their output", ("node",)),
    Kind("other-cmd-text", "cmd's own messages on Windows are unknown words", ("node",)),
    Kind("copy-refused", "cmd on Windows is denied to copy a file", ("node",)),
    Kind("slow-copy", "cmd on Windows takes so long (5) to copy a file", ("node", "seconds")),
    Kind(
        "program-missing",
        "a program (ping, curl, nslookup, powershell, agnhost …) is gone from nodes and images",
        ("node", "program"),
        ("program",),
    ),
    *(Kind(name, tool.summary, ("node",)) for name, tool in broken_tools().items()),
    Kind(
        "server-dead",
        "pods of that name serve nothing so long (5) after they started; they stay as Ready as their probes find them",
        ("pod", "seconds"),
        ("pod",),
    ),
    Kind("attach-silent", "who attaches to a container hears nothing of it", ("node",)),
    Kind(
        "controller-stopped",
        "a controller of objects that make Pods (daemonset, job, cronjob, deployment, replicaset, statefulset) does nothing",
        ("controller",),
        ("controller",),
    ),
    Kind(
        "privileged-refused",
        "the API refuses privileged and HostProcess containers from now on; Pods that stand are left alone",
    ),
    Kind(
        "pods-changed",
        "a mutating webhook changes new Pods, or those that match (a merge patch)",
        ("match", "patch"),
        ("patch",),
    ),
    Kind(
        "pods-refused", "a validating webhook refuses new Pods that match", ("match",), ("match",)
    ),
    Kind("api-errors", "the API answers 500 to some requests", ("rate", "seed")),
    Kind("api-throttling", "the API answers 429 to some requests", ("rate", "seed")),
    Kind("api-resets", "some connections to the API are reset", ("rate", "seed")),
    Kind("expired-tokens", "the token of some requests has expired", ("rate", "seed")),
    Kind("slow-api", "the API takes longer", ("rate", "seconds", "seed")),
)
"""All kinds: the network first, then Services, names, nodes, and the API."""
