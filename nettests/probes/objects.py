"""The objects that a plan needs, from the templates in ``manifests/probes``; otherwise pure.

Every pod is pinned to its node by labels (never by ``nodeName``, so that the scheduler and its
messages take part), states its OS and tolerates the node's taints.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from nettests.errors import PathError
from nettests.model.check import Plan, ProbePod, ServiceObject
from nettests.model.cluster_profile import DOCUMENTATION_ADDRESSES, Images, PodSettings
from nettests.model.dns_names import DEFAULT_SEARCH
from nettests.model.facts import ClusterFacts, Network, NodeFacts
from nettests.model.json_text import Object
from nettests.model.labels import (
    ENFORCED_LEVEL_LABEL,
    HOSTNAME_LABEL,
    MEMBER_LABEL,
    OS_LABEL,
    POD_LABEL,
    PURPOSE_LABEL,
    RUN_LABEL,
)
from nettests.model.permission import PULL_SECRET
from nettests.model.service import LOAD_BALANCER, ByHand, ServiceSettings
from nettests.model.yaml_text import read_yaml
from nettests.outside_files import read_bytes
from nettests.plan import pod_security
from nettests.plan.images import mirrored, probe_image
from nettests.plan.least_privilege import limited, pinging_pods
from nettests.plan.node_pools import MANY_BACKENDS
from nettests.probes import container_start
from nettests.probes.deployment import StandingPod
from nettests.resources import manifests_path

SENTINEL = "sentinel"
OF_MANY = "backend"
"""The purpose label of servers behind Services of many backends: a selector for all servers excludes them."""
WANTED_ADDRESSES = "cni.projectcalico.org/ipAddrs"
"""The annotation by which a Pod requests an address from Calico; other plugins ignore it and have none."""

PROBE_HTTP, PROBE_UDP = 8080, 8081
SERVER_HOSTNAME, SERVER_CLIENTIP, SERVER_UDP = 18080, 18082, 18081
NODE_HTTP, NODE_UDP = 19080, 19081
HOSTPORT_HOSTNAME, HOSTPORT_CLIENTIP, HOSTPORT_UDP, HOSTPORT_BOUND = 19180, 19182, 19181, 19190
"""Host ports of a pod of purpose ``hostport``; the last one is bound to loopback only."""
SERVICE_HOSTNAME, SERVICE_CLIENTIP, SERVICE_UDP = 80, 82, 81
SERVICE_SCTP = 83
IDLE_PORTS = range(22000, 22016)
"""Ports for idle connections, one each, of a Service and its Pod; two per connecting node pool."""
POD_CLOSED, NODE_CLOSED = 18099, 19099
"""Ports without a listener, outside the ranges of NodePorts and dynamic ports."""
_TOPOLOGY_AWARE = {
    "service.kubernetes.io/topology-mode": "Auto",
    "service.kubernetes.io/topology-aware-hints": "Auto",
}
"""kube-proxy ignores hints without these annotations: the former from 1.27 on, the latter before."""
_BEHIND = {
    "probe": {"hostname": PROBE_HTTP, "clientip": PROBE_HTTP, "udp": PROBE_UDP},
    "node": {"hostname": NODE_HTTP, "clientip": NODE_HTTP, "udp": NODE_UDP},
}
"""Target ports of Services whose backends are no server pods: these answer HTTP on one port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blank:
    """Common to all objects of a run: namespace, labels (owner, expiry), images, pod settings."""

    namespace: str
    labels: Mapping[str, str]
    images: Images = field(default_factory=Images)
    settings: PodSettings = field(default_factory=PodSettings)
    pod_security: str = pod_security.PRIVILEGED
    existing: bool = False
    """Whether the namespace is an existing one: then it is neither created nor removed."""
    isolated: bool = True
    """Whether a NetworkPolicy guards the probes."""
    external_ips: Network = DOCUMENTATION_ADDRESSES
    """The network from which ``externalIPs`` are taken."""


def read_template(name: str, folder: Path | None = None) -> Object:
    """Return one object of ``manifests/probes``."""
    path = (folder or manifests_path() / "probes") / f"{name}.yaml"
    loaded: Object = read_yaml(path.read_text(encoding="utf-8"), str(path))[0]
    return loaded


def namespace(blank: Blank) -> Object:
    """Return the run's namespace."""
    item = read_template("namespace")
    item["metadata"]["name"] = blank.namespace
    item["metadata"]["labels"] |= blank.labels
    return item


def namespace_of_level(blank: Blank, level: str) -> Object:
    """Return an empty namespace that enforces a Pod Security level, for dry runs."""
    item = namespace(blank)
    item["metadata"]["name"] += f"-{level}"
    item["metadata"]["labels"] |= {ENFORCED_LEVEL_LABEL: level}
    return item


def pull_secret(blank: Blank) -> Object:
    """Return the pull Secret: a copy, or made of the user's file (``PathError``)."""
    path, data = blank.images.pull_secret_file, blank.images.pull_secret_data
    try:
        if path is not None:
            data = {".dockerconfigjson": b64encode(read_bytes(path)).decode("ascii")}
    except OSError as error:
        raise PathError(
            f"the pull secret {path} cannot be read: {error.strerror}",
            hint="images.pullSecretFile in the cluster profile names a Docker config.json",
        ) from error
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": PULL_SECRET,
            "namespace": blank.namespace,
            "labels": dict(blank.labels),
        },
        "type": f"kubernetes.io/{'dockercfg' if '.dockercfg' in data else 'dockerconfigjson'}",
        "data": dict(data),
    }


def resident(plan: Plan, facts: ClusterFacts, blank: Blank) -> list[Object]:
    """Return the long-lived objects of the run's namespace, in creation order."""
    return [
        *([pull_secret(blank)] if PULL_SECRET in pull_secrets(blank) else []),
        *services(plan, facts, blank),
        *pods(plan, facts, blank),
    ]


def pods(plan: Plan, facts: ClusterFacts, blank: Blank) -> list[Object]:
    """Return the pods of a plan."""
    backing = {
        pod.name: {
            f"{MEMBER_LABEL}{service.name}": "true"
            for service in plan.services
            if pod.name in service.backends
        }
        for pod in plan.pods
    }
    pinging = pinging_pods(plan)
    manifests = []
    for pod in plan.pods:
        item = _pod(pod, facts, backing[pod.name], blank)
        node, pings = facts.node(pod.node), pod.name in pinging
        item["spec"] = limited(item["spec"], node.os, pings=pings)
        manifests.append(outfitted(item, node, blank))
    return manifests


def server_beside(
    standing: StandingPod,
    name: str,
    group: str,
    facts: ClusterFacts,
    blank: Blank,
    *,
    address: str = "",
) -> Object:
    """Return another server pod on a pod's node, which only Services of its group select.

    It requests ``address`` if there is one.
    """
    node = facts.node(standing.node)
    planned = ProbePod(name=name, purpose="server", node=node.name, os=node.os, pool=node.pool)
    item = _pod(planned, facts, {}, blank)
    item = outfitted(item, node, blank)
    item["metadata"]["labels"] |= {POD_LABEL: group, PURPOSE_LABEL: "replaced"}
    if address:
        wanted = {WANTED_ADDRESSES: json.dumps([address])}
        item["metadata"]["annotations"] = {**item["metadata"].get("annotations", {}), **wanted}
    return item


def services(plan: Plan, facts: ClusterFacts, blank: Blank) -> list[Object]:
    """Return the Services of a plan; those with externalIPs only while addresses last."""
    outer = [service.name for service in plan.services if service.settings.external_ip]
    external_ips = dict(zip(outer, map(str, blank.external_ips.hosts()), strict=False))
    return [
        _service(service, blank, facts, external_ips.get(service.name))
        for service in plan.services
        if not service.settings.external_ip or service.name in external_ips
    ]


def sentinel(blank: Blank) -> Object:
    """Return the Service created last, backed by all servers, of which one is enough."""
    item = deepcopy(read_template("service"))
    item["metadata"] |= {
        "name": SENTINEL,
        "namespace": blank.namespace,
        "labels": dict(blank.labels),
    }
    run = {name: value for name, value in blank.labels.items() if name == RUN_LABEL}
    item["spec"]["selector"] = {**run, PURPOSE_LABEL: "server"}
    return item


_TEMPLATES = {"node": "node-{os}", "resolver": "probe"}


def _pod(
    pod: ProbePod,
    facts: ClusterFacts,
    backing: Mapping[str, str],
    blank: Blank,
) -> Object:
    node = facts.node(pod.node)
    template = _TEMPLATES.get(pod.purpose, pod.purpose).format(os=pod.os.value)
    item = deepcopy(read_template(template))
    labels = {**blank.labels, POD_LABEL: pod.name, **backing}
    item["metadata"]["name"] = pod.name
    item["metadata"]["namespace"] = blank.namespace
    item["metadata"]["labels"] |= labels
    if pod.name.startswith(f"{MANY_BACKENDS}-"):
        item["metadata"]["labels"][PURPOSE_LABEL] = OF_MANY
    spec = item["spec"]
    spec["os"] = {"name": pod.os.value}
    if pod.purpose in {"server", "unready", "hostport"}:
        spec["hostname"] = pod.name
    if pod.purpose == "node" and len(facts.families) > 1:
        _listen_in_families(spec, node)
    if pod.dns_policy:
        _resolve_by(pod, spec, facts)
    container_start.prove_listening(spec)
    return item


def outfitted(item: Object, node: NodeFacts, blank: Blank) -> Object:
    """Return a Pod with what every Pod of a run has: its node, images, settings."""
    settings, metadata = blank.settings, item["metadata"]
    metadata["labels"] = {**settings.labels, **metadata["labels"]}
    if settings.annotations:
        metadata["annotations"] = {**settings.annotations, **metadata.get("annotations", {})}
    spec = limited(item["spec"], node.os)
    spec = pod_security.secured(spec, node.os, blank.pod_security)
    spec["nodeSelector"] = {
        **spec.get("nodeSelector", {}),
        **settings.node_selector,
        HOSTNAME_LABEL: node.hostname or node.name,
        OS_LABEL: node.os.value,
    }
    spec["tolerations"] = [
        *(
            {"key": taint.key, "operator": "Exists", "effect": taint.effect}
            for taint in node.taints
        ),
        *(dict(toleration) for toleration in settings.tolerations),
    ]
    spec["automountServiceAccountToken"] = False
    spec.setdefault("enableServiceLinks", False)
    if settings.priority_class:
        spec["priorityClassName"] = settings.priority_class
    if secrets := pull_secrets(blank):
        spec["imagePullSecrets"] = [{"name": name} for name in secrets]
    usual = probe_image(blank.images, node.os, node.build.value)
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        named = container.get("image")
        container["image"] = mirrored(named, blank.images.registry) if named else usual
        if not named:
            container_start.start(spec, container)
        if resources := settings.resources(node.os):
            container.setdefault("resources", deepcopy(dict(resources)))
    return {**item, "spec": spec}


def pull_secrets(blank: Blank) -> tuple[str, ...]:
    """Return the names of the Pods' imagePullSecrets."""
    images = blank.images
    run_secrets = (PULL_SECRET,) if images.pull_secret_file or images.pull_secret else ()
    return (*images.pull_secrets, *run_secrets)


def _listen_in_families(spec: Object, node: NodeFacts) -> None:
    """List node addresses: ``status.hostIP`` is only one, ``hostIPs`` needs Kubernetes 1.28."""
    first = {address.version: str(address) for address in reversed(node.addresses)}
    named = {"name": "HOST_IP", "value": ",".join(sorted(first.values()))}
    for container in spec["containers"]:
        if "env" in container:
            container["env"] = [
                variable for variable in container["env"] if variable["name"] != "HOST_IP"
            ]
            container["env"].append(named)


def _resolve_by(pod: ProbePod, spec: Object, facts: ClusterFacts) -> None:
    spec["dnsPolicy"] = pod.dns_policy
    if pod.dns_policy == "None":
        spec["dnsConfig"] = {
            "nameservers": [str(facts.dns_address.value)],
            "searches": [DEFAULT_SEARCH.format(domain=facts.cluster_domain.value)],
        }
    if pod.purpose == "node":
        # It is probed by exec only; the node's usual probe has the ports.
        (container,) = spec["containers"]
        container["args"] = ["pause"]


def _service(
    service: ServiceObject, blank: Blank, facts: ClusterFacts, external_ip: str | None
) -> Object:
    settings = service.settings
    item = deepcopy(read_template("service"))
    item["metadata"] |= {
        "name": service.name,
        "namespace": blank.namespace,
        "labels": dict(blank.labels),
    }
    if settings.external_name:
        outside = facts.external_target
        item["spec"] = {"type": "ExternalName", "externalName": outside.name if outside else ""}
        return item
    spec = item["spec"]
    if settings.by_hand is None:
        spec["selector"] = {f"{MEMBER_LABEL}{service.name}": "true"}
    if settings.by_hand is ByHand.MIXED_TARGET_PORTS:
        spec["ports"] = [port for port in spec["ports"] if port["name"] == "hostname"]
    if settings.type == LOAD_BALANCER:
        spec["ports"] = [port for port in spec["ports"] if port["protocol"] == "TCP"]
    for port in spec["ports"]:
        if settings.named_ports:
            port["targetPort"] = port["name"]
        elif settings.behind in _BEHIND:
            port["targetPort"] = _BEHIND[settings.behind][port["name"]]
    ports = [(f"idle-{port}", port, "TCP") for port in IDLE_PORTS if settings.idle_ports]
    ports += [("sctp", SERVICE_SCTP, "SCTP")] if settings.sctp else []
    spec["ports"] += [
        {"name": name, "port": port, "targetPort": port, "protocol": protocol}
        for name, port, protocol in ports
    ]
    spec |= _settings(settings)
    if external_ip is not None:
        spec["externalIPs"] = [external_ip]
    if settings.by_hand is ByHand.HINTED:
        item["metadata"]["annotations"] = dict(_TOPOLOGY_AWARE)
    if settings.preserve_destination:
        item["metadata"]["annotations"] = {"preserve-destination": "true"}
    return item


def _settings(settings: ServiceSettings) -> Object:
    """Return the fields of a Service's ``spec`` that differ from the API's defaults."""
    spec: Object = {"type": settings.type}
    if settings.headless:
        spec["clusterIP"] = "None"
    if settings.session_affinity:
        spec["sessionAffinity"] = "ClientIP"
    if settings.affinity_seconds is not None:
        seconds = {"timeoutSeconds": settings.affinity_seconds}
        spec["sessionAffinityConfig"] = {"clientIP": seconds}
    if settings.external_local:
        spec["externalTrafficPolicy"] = settings.external_traffic_policy
    if settings.internal_local:
        spec["internalTrafficPolicy"] = settings.internal_traffic_policy
    if settings.ip_family_policy:
        spec["ipFamilyPolicy"] = settings.ip_family_policy
    if settings.ip_families:
        spec["ipFamilies"] = [family.value for family in settings.ip_families]
    if settings.source_ranges:
        spec["loadBalancerSourceRanges"] = list(settings.source_ranges)
    if settings.publish_not_ready:
        spec["publishNotReadyAddresses"] = True
    return spec
