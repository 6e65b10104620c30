"""Groups of checks that profiles have in common, with what is expected of them, for the golden list."""

from collections.abc import Sequence

DNS = {
    r"dns-other-namespace-partial/windows-1/.*/(system|resolve-dnsname)": (
        "dns-between-forms: nxdomain"
    ),
    r"dns-other-namespace-partial/windows-1/.*/nslookup": (
        "dns-between-forms-nslookup-unstated: unspecified"
    ),
    r"dns-mounted-file/windows-1/": "dns-no-resolvconf-file: deviates",
    r"dns-policy-host-network/windows-1/": "dns-clusterfirstwithhostnet: unspecified",
    r"pod-hostname-fqdn/windows-1/hostname$": "dns-hostname-fqdn: unspecified",
    r"pod-to-service-partial-name/windows-1/.*/(system|resolve-dnsname)": (
        "dns-between-forms: nxdomain"
    ),
    r"pod-to-service-partial-name/windows-1/.*/nslookup": (
        "dns-between-forms-nslookup-unstated: unspecified"
    ),
}
TAINT = {r"windows-node-taint/windows-1/": "plat-taint-convention: unspecified"}
RESTRICTED = {r"windows-pod-restricted/api/without-linux-fields": "sec-psa-restricted: rejected"}
ICMP = {r"icmp-egress/windows-1/": "icmp-pod-external: timed_out or unreachable"}
NODES = {
    r"pod-to-node-closed-port/[a-z]+-[0-9]/windows-[0-9]/": "flow-closed-port-node: timed_out",
    r"icmp-pod-to-node/[a-z]+-[0-9]/windows-[0-9]/": "icmp-pod-node-unstated: unspecified",
}
LINUX_VIP = {r"icmp-pod-to-service/linux-1/": "svc-icmp-vip-elsewhere: unspecified"}
VIP = {r"icmp-pod-to-service/windows-[0-9]/": "svc-icmp-vip: timed_out or unreachable", **LINUX_VIP}
OTHER_VIP = {
    r"icmp-pod-to-service/windows-1/": "svc-icmp-vip-elsewhere: unspecified",
    **LINUX_VIP,
}
TRANSLATED = {
    r"icmp-pod-to-node/windows-1/linux-1/": "icmp-pod-node-translated: timed_out or unreachable",
    r"icmp-pod-to-node/[a-z]+-[0-9]/windows-[0-9]/": "icmp-pod-node-unstated: unspecified",
}
CHANGES = {
    r"(service-during-changes|udp-flow-after-change)/windows-[0-9]/": (
        "svc-changes-in-use: unspecified"
    ),
}
SCTP = {r"hns-load-balancers/windows-[0-9]/sctp-load-balancers": "svc-sctp: unspecified"}
IDLE_PODS = {
    r"pod-to-pod-idle/windows-1/": "flow-tcp-idle-4min: lost",
    r"pod-to-external-idle/windows-1/": "flow-tcp-idle-translated: unspecified",
}
IDLE = {
    **IDLE_PODS,
    r"pod-to-service-idle/windows-1/": "flow-tcp-idle-translated: unspecified",
}
OLD = {
    r"node-to-service-(clusterip|source-address)/windows-1/": "node-svc-vip-docs: refused or timed_out or unreachable",
    r"nodeport-from-(local-node|node-source-address)/windows-1/": "nodeport-local-from-node: refused or timed_out",
    r"service-65-backends/windows-1/": "svc-max-64-backends: refused or timed_out or unreachable",
    r"session-affinity/windows-1/.*/tcp": "aff-clientip-hns: connected, several-backends",
    r"session-affinity/windows-1/.*/udp": "aff-clientip-hns: replied, several-backends",
}
SEEN = r"(dsr-source-address|witnessed-service)/windows-1/"
MANY_SERVICES = {r"many-services/windows-1/": "svc-many-without-dsr: unspecified"}
NO_DSR = {
    **MANY_SERVICES,
    SEEN + ".*/tcp": "dsr-source-ip-non-dsr: connected, source = client-node",
    SEEN + ".*/udp": "dsr-source-ip-non-dsr: replied, source = client-node",
}
NEW = {
    r"node-to-service-(clusterip|source-address)/windows-1/": "node-svc-vip-dsr-host-rules: unspecified",
    r"nodeport-from-(local-node|node-source-address)/windows-1/": "nodeport-local-open: unspecified",
}
NEW_WITH_DSR = {
    r"node-to-service-(clusterip|source-address)/windows-1/": "node-svc-vip-dsr-host-rules: unspecified",
    r"nodeport-from-(local-node|node-source-address)/windows-1/": "nodeport-local-open: unspecified",
}
REMOTE_PODS = {
    r"node-to-pod/windows-1/.*/other-node/": "flow-node-remote-pod-overlay: timed_out or unreachable",
}
NO_ENDPOINTS = {
    r"service-unready-backend/windows-1/": "svc-publish-not-ready: timed_out or unreachable",
    r"service-no-endpoints/windows-1/": "svc-no-endpoints: timed_out or unreachable",
    r"nodeport-no-endpoints/external/windows-1/": "svc-no-endpoints-nodeport: refused or timed_out",
}
PUBLISHED = {
    r"service-unready-backend/windows-1/": "svc-publish-not-ready: timed_out or unreachable",
}
EXTERNAL_LOCAL_OLD = {
    r"etp-local-client-address/external/windows-1/": (
        "etp-local-ignored-source: connected, source = target-node"
    ),
    r"etp-local-no-local-backend/external/windows-1/": "etp-local-old: connected",
}
EXTERNAL_LOCAL_OLD_VIP = {
    r"etp-local-client-address/external/windows-1/": (
        "etp-local-ignored-source-vip: connected, source = source-vip"
    ),
}
INTERNAL_LOST = {r"itp-local-own-node/windows-1/": "itp-local-balancer-lost: unspecified"}
HOST_BACKEND = {
    r"service-host-process-backend/windows-1/windows-1/same-node/": (
        "svc-hostprocess-backend-same-node: refused or timed_out or unreachable"
    ),
}
HOST_PORTS = {
    r"hostport-bound-elsewhere/[a-z]+-[0-9]/windows-[0-9]/": "hostport-bound-stealth: timed_out",
}
OWN_HOST_PORTS = {
    r"hostport-bound-to-loopback/windows-1/": "hostport-hostip: refused or timed_out",
    r"hostport-from-own-node/windows-1/": "hostport-local: unspecified",
}
ONE_NUMBER = {
    r"service-two-target-ports/windows-1/": "svc-single-targetport: connected, some-refused",
    r"service-topology-hints/windows-1/": "svc-topology-hints: connected, several-backends",
}
STICKY = {r"affinity-timeout/windows-1/": "aff-timeout: connected, one-backend"}
VIP_SEEN_BY_ITSELF = {
    r"service-hairpin-source/windows-1/": "svc-hairpin-nondsr: connected, source = source-vip",
}
VIP_SEEN = {
    r"nodeport-(from-pod-)?source-address/[a-z]+(-[0-9])?/windows-1/": (
        "nodeport-source-vip: connected, source = source-vip"
    ),
}
USER_MODE_FROM_ELSEWHERE = {
    r"nodeport-(from-other-node|from-pod-(other-node|source-address))/[a-z]+-1/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"(payload-nodeport-from-pod|nodeport-endpoints-changed)/[a-z]+-1/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"health-check-[a-z-]+/[a-z]+-1/windows-1/": "svc-userspace-default: unspecified",
}
USER_MODE = {
    r"kube-proxy-mode/windows-1/": "svc-userspace-default-mode: deviates",
    SEEN + ".*/tcp": "svc-userspace-source: connected, source = client-node",
    SEEN + ".*/udp": "svc-userspace-source: replied, source = client-node",
    r"(pod-to-service-(clusterip|pqdn|fqdn)|node-to-service-(clusterip|source-address))/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"(many-services(-removed)?|service-beside-many)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"(payload-(1mib-)?pod-to-service|connection-loss|many-connections)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"(session-affinity|affinity-timeout|etp-local-clusterip|itp-local-[a-z-]+)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"service-(distribution|hairpin|hairpin-source|host-process-backend)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"service-(no-endpoints|unready-backend|named-port|two-target-ports|without-selector)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"service-(terminating-backends|topology-hints|beside-sctp)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    r"nodeport-(from-local-node|from-node-source-address|from-pod-own-node|localhost)/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
    **USER_MODE_FROM_ELSEWHERE,
    r"(nodeport-(from-external|source-address|no-endpoints)|etp-local-[a-z-]+)/external/windows-1/": (
        "svc-userspace-default: unspecified"
    ),
}

BALANCED = {
    r"loadbalancer-local-policy/windows-1/": "svc-lb-etp-local-from-windows-pod: unspecified",
    r"loadbalancer-source-ranges/windows-1/": "svc-lb-source-ranges: connected",
    r"service-terminating-backends/windows-1/": "svc-terminating-lb: refused or timed_out or unreachable",
}
LEAVING_LINUX = {
    r"(service|loadbalancer)-terminating-backends/linux-1/": (
        "svc-terminating-linux-old: refused or timed_out or unreachable"
    ),
}
PRESERVED = {
    r"(loadbalancer|witnessed)-preserve-destination/windows-1/": "preserve-dest-annotation: refused or timed_out or unreachable",
}
BALANCED_VIP = {
    r"loadbalancer-source-address/windows-1/": "lb-source-vip: connected, source = source-vip",
    r"external-ip-source-address/windows-1/": (
        "external-ip-source-vip: connected, source = source-vip"
    ),
}


def on_pools(numbers: Sequence[int], *tables: dict[str, str]) -> dict[str, str]:
    """The lines of tables, for the sources of each of these Windows node pools."""
    return {
        line.replace("/windows-1/", f"/windows-{number}/", 1): said
        for table in tables
        for line, said in table.items()
        for number in numbers
    }


def on_host_pools(numbers: Sequence[int]) -> dict[str, str]:
    """The lines of Services that each of these Windows node pools backs for itself."""
    return {
        line.replace("windows-1", f"windows-{number}"): said
        for line, said in HOST_BACKEND.items()
        for number in numbers
    }


WITHOUT_DSR = {
    **IDLE,
    **BALANCED,
    **PRESERVED,
    **DNS,
    **TAINT,
    **ICMP,
    **NODES,
    **HOST_PORTS,
    **ONE_NUMBER,
    **VIP,
    **NO_DSR,
    **NEW,
    **NO_ENDPOINTS,
    **HOST_BACKEND,
    **STICKY,
}


BRIDGE_WITH_DSR = {
    **IDLE,
    **BALANCED,
    **PRESERVED,
    **DNS,
    **TAINT,
    **ICMP,
    **NODES,
    **HOST_PORTS,
    **ONE_NUMBER,
    **OWN_HOST_PORTS,
    **VIP,
    **NEW_WITH_DSR,
    **NO_ENDPOINTS,
    **HOST_BACKEND,
    **STICKY,
}
OVERLAY_WITH_DSR = {
    **IDLE,
    **BALANCED,
    **PRESERVED,
    **BALANCED_VIP,
    **DNS,
    **TAINT,
    **ICMP,
    **NODES,
    **HOST_PORTS,
    **ONE_NUMBER,
    **OWN_HOST_PORTS,
    **VIP,
    **NEW_WITH_DSR,
    **REMOTE_PODS,
    **TRANSLATED,
    **NO_ENDPOINTS,
    **HOST_BACKEND,
    **STICKY,
    **VIP_SEEN,
}
ANTREA = {
    **DNS,
    **TAINT,
    **NODES,
    **HOST_PORTS,
    **OWN_HOST_PORTS,
    **OTHER_VIP,
    r"hostport-from-(other-node/[a-z]+-[0-9]|external/external)/windows-1/": (
        "hostport-antrea: refused or timed_out"
    ),
    r"icmp-egress/windows-1/": "icmp-antrea-external: unspecified",
    r"loadbalancer-source-ranges/windows-1/": "svc-without-kube-proxy: unspecified",
    r"icmp-pod-to-node/windows-1/linux-1/": "icmp-pod-node-unstated: unspecified",
    r"service-topology-hints/windows-1/": "svc-without-kube-proxy: unspecified",
}
NO_LOOPBACK = {
    r"service-hairpin(-source)?/windows-1/": "svc-hairpin-dsr: refused or timed_out or unreachable",
}
OUTBOUND_PORTS = {r"many-connections-outside/": "aks-outbound-ports: unspecified"}
AKS = {
    **BRIDGE_WITH_DSR,
    **OUTBOUND_PORTS,
    r"etp-local-client-address/external/windows-1/": "client-ip-aks: unspecified",
}
