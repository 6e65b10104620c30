"""Facts, the mechanism of the lab that makes each of them true, and the checks that must notice.

An experiment switches one mechanism to the other behaviour, not a manifest; exactly the checks that
match its patterns then change their verdict. Used by ``test_mechanisms`` (several at once, where their
checks are apart) and by ``scripts/mechanisms.py`` (each by itself).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One fact of the catalogue, what to switch on which profile, and patterns of the checks' ids.

    The fact decides those of them whose verdict ``was`` that; ``becomes`` is what it is then.
    """

    fact: str
    profile: str
    switch: str
    checks: tuple[str, ...]
    was: str = "limited"
    becomes: str = "lifted"
    apart: bool = False
    """Other switches of the profile would disturb it: it is shown in a run of its flows alone."""
    enable: str = ""
    """The class of its flows, where they are not asked unasked."""

    @property
    def flows(self) -> frozenset[str]:
        """The flows of its checks."""
        return frozenset(pattern.partition("/")[0] for pattern in self.checks)

    def concerns(self, check: str, verdict: str) -> bool:
        """Whether the fact decides this check, which had this verdict."""
        return verdict == self.was and any(fnmatchcase(check, name) for name in self.checks)


L2BRIDGE, OVERLAY, DSR = "win2019-l2bridge", "win2019-overlay", "win2022-l2bridge-dsr"
AZURE = "azure-l2tunnel"
OVERLAY_DSR = "win2022-overlay-dsr"

EXPERIMENTS = (
    Experiment(
        fact="node-svc-vip-docs",
        profile=L2BRIDGE,
        switch="host-rules=on",
        checks=("node-to-service-clusterip/windows-1/*",),
    ),
    Experiment(
        fact="nodeport-local-from-node",
        profile=L2BRIDGE,
        switch="local-routed-vip=on",
        checks=("nodeport-from-local-node/windows-1/*",),
    ),
    Experiment(
        fact="aff-clientip-hns",
        profile=L2BRIDGE,
        switch="session-affinity=on",
        checks=("session-affinity/windows-1/*",),
    ),
    Experiment(
        fact="dns-between-forms",
        profile=L2BRIDGE,
        switch="dotted-suffixes=on",
        checks=(
            "pod-to-service-partial-name/windows-1/*/system",
            "dns-other-namespace-partial/windows-1/*/system",
        ),
    ),
    Experiment(
        fact="icmp-pod-external",
        profile=L2BRIDGE,
        switch="outbound-icmp=on",
        checks=("icmp-egress/windows-1/*",),
    ),
    Experiment(
        fact="podos-forbidden-pod",
        profile=L2BRIDGE,
        switch="windows-pod-rules=off",
        checks=("windows-pod-fields/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="podos-forbidden-container",
        profile=L2BRIDGE,
        switch="windows-container-rules=off",
        checks=(
            "windows-container-fields/api/containers.*",
            "windows-container-fields/api/initContainers.*",
        ),
        was="pass",
        becomes="fail",
    ),
    Experiment(  # refused for another reason then: no container may be ephemeral from the start
        fact="podos-forbidden-container",
        profile=L2BRIDGE,
        switch="windows-container-rules=off",
        checks=("windows-container-fields/api/ephemeralContainers.*",),
        was="pass",
        becomes="unknown",
    ),
    Experiment(
        fact="flow-closed-port-node",
        profile=OVERLAY,
        switch="stealth=off",
        checks=("pod-to-node-closed-port/*/windows-1/*",),
    ),
    Experiment(  # the NodePort's silence is that of a closed port: refused is not what is documented
        fact="nodeport-local-from-node",
        profile=OVERLAY,
        switch="stealth=off",
        checks=("nodeport-from-local-node/windows-1/*",),
        becomes="fail",
    ),
    Experiment(
        fact="dns-short-same-ns",
        profile=OVERLAY,
        switch="dns-suffixes=0",
        checks=("pod-to-service-pqdn/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="flow-node-remote-pod-overlay",
        profile=OVERLAY,
        switch="host-encapsulates=on",
        checks=("node-to-pod/windows-1/*/other-node/*",),
    ),
    Experiment(
        fact="dsr-source-ip-non-dsr",
        profile=OVERLAY,
        switch="dsr=on",
        checks=("dsr-source-address/windows-1/*",),
    ),
    Experiment(
        fact="dsr-source-ip-clusterip",
        profile=DSR,
        switch="dsr=off",
        checks=("dsr-source-address/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="flow-pod-external-ip",
        profile=DSR,
        switch="outbound-nat=off",
        checks=(
            "pod-to-external-ip/windows-1/*",
            "pod-to-external-dns/windows-1/*/tcp",
            "pod-to-external-dns/windows-1/*/udp",
        ),
        was="pass",
        becomes="fail",
    ),
    Experiment(  # the node's name server is outside
        fact="dns-policy-default",
        profile=DSR,
        switch="outbound-nat=off",
        checks=("dns-policy-default/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="svc-single-targetport",
        profile=L2BRIDGE,
        switch="one-internal-port=off",
        checks=("service-two-target-ports/windows-1/*",),
    ),
    Experiment(
        fact="hostport-basic",
        profile=L2BRIDGE,
        switch="port-mappings=off",
        checks=("hostport-from-other-node/*/windows-1/*", "hostport-from-external/*/windows-1/*"),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="hostport-local",
        profile=AZURE,
        switch="local-port-mappings=off",
        checks=("hostport-from-own-node/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="hostport-hostip",
        profile=OVERLAY,
        switch="stealth=off",
        checks=("hostport-bound-elsewhere/*/windows-1/*",),
    ),
    Experiment(
        fact="svc-no-endpoints",
        profile=L2BRIDGE,
        switch="refuse-unserved=on",
        checks=("service-no-endpoints/windows-1/*",),
    ),
    Experiment(  # what kube-proxy skips is silent like what nobody backs
        fact="svc-hostprocess-backend-same-node",
        profile=L2BRIDGE,
        switch="refuse-unserved=on",
        checks=("service-host-process-backend/windows-1/*/same-node/*",),
        becomes="fail",
    ),
    Experiment(
        fact="svc-hostprocess-backend-same-node",
        profile=DSR,
        switch="host-network-backends=on",
        checks=("service-host-process-backend/windows-1/*/same-node/*",),
        apart=True,
    ),
    Experiment(
        fact="itp-local",
        profile=OVERLAY,
        switch="internal-traffic-local=on",
        checks=("itp-local-no-local-backend/windows-1/*",),
    ),
    Experiment(
        fact="svc-no-endpoints",
        profile=OVERLAY,
        switch="stealth=off",
        checks=("nodeport-no-endpoints/external/windows-1/*",),
    ),
    Experiment(  # that profile's plugin sets no loopbackDSR: the pod drops what comes from itself
        fact="svc-hairpin-dsr",
        profile=OVERLAY,
        switch="dsr=on",
        checks=("service-hairpin/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="svc-hairpin-nondsr",
        profile=OVERLAY,
        switch="dsr=on",
        checks=("service-hairpin-source/windows-1/*",),
        becomes="fail",
    ),
    Experiment(
        fact="etp-local-supported",
        profile=DSR,
        switch="external-traffic-local=off",
        checks=(
            "etp-local-client-address/external/windows-1/*",
            "etp-local-no-local-backend/external/windows-1/*",
        ),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="flow-pod-external-ip",
        profile=DSR,
        switch="outbound-nat=off",
        checks=("service-external-name/windows-1/*/tcp",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="hostnet-non-hostprocess",
        profile=L2BRIDGE,
        switch="host-network=on",
        checks=("pod-host-network/windows-1/*",),
    ),
    Experiment(
        fact="plat-pod-os-kubelet-reject",
        profile=DSR,
        switch="pod-os=off",
        checks=("pod-of-other-os/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="aff-clientip-hns",
        profile=DSR,
        switch="session-affinity=off",
        checks=("session-affinity/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="pf-dial",
        profile=DSR,
        switch="forward-to-address=off",
        checks=("pod-port-forward/windows-1/*",),
    ),
    Experiment(
        fact="cni-check-spec",
        profile=DSR,
        switch="cni-version=9",
        checks=("windows-cni-configuration/windows-1/cni-version",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="sec-runasnonroot",
        profile=DSR,
        switch="run-as-non-root=off",
        checks=("windows-run-as-non-root/windows-1/administrator",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="term-grace",
        profile=DSR,
        switch="graceful-end=off",
        checks=("pod-termination/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="svc-externalips",
        profile=DSR,
        switch="external-ips=off",
        checks=("service-external-ip/windows-1/*",),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(
        fact="svc-lb-source-ranges",
        profile=DSR,
        switch="source-ranges=on",
        checks=("loadbalancer-source-ranges/windows-1/*",),
        enable="exposed",
    ),
    Experiment(
        fact="preserve-dest-annotation",
        profile=DSR,
        switch="preserve-destination=off",
        checks=("loadbalancer-preserve-destination/windows-1/*",),
        enable="exposed",
    ),
    Experiment(
        fact="nodeport-healthcheck",
        profile=DSR,
        switch="health-check-ports=off",
        checks=(
            "health-check-local-backend/*/windows-1/*",
            "health-check-no-local-backend/*/windows-1/*",
        ),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(  # the balancer outside may still lead to a Linux node, which serves what it gets
        fact="svc-lb-ingress-vip",
        profile=OVERLAY_DSR,
        switch="load-balancer-addresses=off",
        checks=("pod-to-loadbalancer/windows-1/windows-1/*",),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(
        fact="svc-lb-ingress-vip",
        profile=OVERLAY_DSR,
        switch="load-balancer-addresses=off",
        checks=("loadbalancer-source-address/windows-1/*",),
        becomes="fail",
        enable="exposed",
    ),
)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the checks whose verdict is another one, with the new verdict."""
    return {check: after[check] for check in before if after.get(check) != before[check]}
