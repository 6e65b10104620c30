"""What the flows cost a cluster that Kubernetes' conformance specs of networking exercise: seconds, and API requests.

    python bench/upstream.py [--profile NAME | --kubeconfig FILE [--cluster-profile FILE]] [--flows]

The specs of ``[sig-network]`` in Kubernetes' ``test/conformance/testdata/conformance.yaml`` are told with the flows that
exercise the same; those that look at objects alone, and send no packet, have none. The flows are run on an emulated cluster of two Linux nodes, or
on the cluster of a kubeconfig. Printed are the seconds of each stage and the requests by verb and resource, as the run's
own journal has them; then, for comparison, the same of all flows of the default class. ``--flows`` prints the options of
``nettests run`` that choose them. The budget on two Linux nodes: 20 s and 200 requests.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DNS, SERVICES, SLICES = "DNS should", "Services should", "EndpointSlice should"
PODS = "Granular Checks: Pods should function for"
NAMES = ("pod-to-service-fqdn", "dns-headless-service", "service-headless")
CLUSTER_IPS = ("pod-to-service-clusterip", "node-to-service-clusterip")
NODE_PORTS = (
    "nodeport-from-pod-other-node",
    "nodeport-from-other-node",
    "nodeport-from-local-node",
)
BY_HAND = ("service-without-selector",)
SPECS: dict[str, tuple[str, ...]] = {
    f"{DNS} provide DNS for the cluster": ("dns-via-service",),
    f"{DNS} provide /etc/hosts entries for the cluster": ("pod-hostname-fqdn", "pod-host-aliases"),
    f"{DNS} provide DNS for services": NAMES,
    f"{DNS} resolve DNS of partial qualified names for services": (
        *("pod-to-service-pqdn", "pod-to-service-partial-name"),
        *("dns-other-namespace", "dns-other-namespace-partial"),
    ),
    f"{DNS} provide DNS for pods for Hostname": ("pod-to-pod-name",),
    f"{DNS} provide DNS for pods for Subdomain": ("dns-pod-name",),
    f"{DNS} provide DNS for ExternalName services": ("service-external-name",),
    f"{DNS} support configurable pod DNS nameservers": (
        *("dns-policy-none", "dns-policy-none-servers", "dns-mounted-file"),
    ),
    f"{SLICES} have Endpoints and EndpointSlices pointing to API Server": (),
    f"{SLICES} create and delete Endpoints and EndpointSlices for a Service with a selector": CLUSTER_IPS,
    f"{SLICES} create Endpoints and EndpointSlices for Pods matching a Service": CLUSTER_IPS,
    f"{SLICES} support a Service with multiple ports specified in multiple EndpointSlices": BY_HAND,
    f"{SLICES} support a Service with multiple endpoint IPs in multiple EndpointSlices": BY_HAND,
    f"{SLICES} support creating EndpointSlice API operations": (),
    "EndpointSliceMirroring should mirror a custom Endpoints resource": BY_HAND,
    "HostPort validates that there is no conflict between pods with same hostPort but different hostIP and protocol": (
        *("hostport-from-other-node", "hostport-bound-elsewhere"),
    ),
    "Ingress API should support creating Ingress API operations": (),
    "IngressClass API should support creating IngressClass API operations": (),
    f"{PODS} intra-pod communication: http": ("pod-to-pod-ip",),
    f"{PODS} intra-pod communication: udp": ("pod-to-pod-ip",),
    f"{PODS} node-pod communication: http": ("node-to-pod",),
    f"{PODS} node-pod communication: udp": ("node-to-pod",),
    "Proxy should proxy through a service and a pod": ("kubectl-to-pod",),
    "Proxy: a set of valid responses are returned for both pod and service Proxy": (
        "kubectl-to-pod",
    ),
    "Proxy: a set of valid responses are returned for both pod and service ProxyWithPath": (
        "kubectl-to-pod",
    ),
    "Service endpoints latency should not be very high": CLUSTER_IPS,
    f"{SERVICES} be able to change the type from ExternalName to ClusterIP": CLUSTER_IPS,
    f"{SERVICES} be able to change the type from ExternalName to NodePort": NODE_PORTS,
    f"{SERVICES} be able to change the type from ClusterIP to ExternalName": (
        "service-external-name",
    ),
    f"{SERVICES} be able to change the type from NodePort to ExternalName": (
        "service-external-name",
    ),
    f"{SERVICES} be able to create a functioning NodePort service": NODE_PORTS,
    f"{SERVICES} be able to switch session affinity for NodePort service": ("session-affinity",),
    f"{SERVICES} be able to switch session affinity for service with type clusterIP": (
        "session-affinity",
    ),
    f"{SERVICES} have session affinity work for NodePort service": ("session-affinity",),
    f"{SERVICES} have session affinity work for service with type clusterIP": ("session-affinity",),
    f"{SERVICES} complete a service status lifecycle": (),
    f"{SERVICES} delete a collection of services": (),
    f"{SERVICES} find a service from listing all namespaces": (),
    f"{SERVICES} provide secure master service": (),
    f"{SERVICES} serve a basic endpoint from pods": CLUSTER_IPS,
    f"{SERVICES} serve endpoints on same port and different protocols": CLUSTER_IPS,
    f"{SERVICES} serve multiport endpoints from pods": (
        *("service-named-port", "service-two-target-ports"),
    ),
    f"{SERVICES} test the lifecycle of an Endpoint": (),
    "IPAddress API should support IPAddress API operations": (),
    "ServiceCIDR API should support ServiceCIDR API operations": (),
}
"""Titles are shortened. What changes a Service that others use is of class ``disruptive``: the flows meet it as it ends."""


def flows() -> list[str]:
    """Return the flows that the specs exercise, each once."""
    return sorted({flow for spec_flows in SPECS.values() for flow in spec_flows})


def main() -> None:
    """Print what the specs' flows cost, and what all flows of the default class do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--profile", default="linux", help="an emulated cluster")
    parser.add_argument("--kubeconfig", help="a cluster instead of an emulated one")
    parser.add_argument("--cluster-profile", help="what its kubeconfig cannot say")
    parser.add_argument("--flows", action="store_true", help="print the options that choose them")
    given = parser.parse_args()
    chosen = [f"--flow={flow}" for flow in flows()]
    if given.flows:
        print(" ".join(chosen))
        return
    cluster = [f"--lab={given.profile}"]
    if given.kubeconfig:
        more = [f"--cluster-profile={given.cluster_profile}"] if given.cluster_profile else []
        cluster = [f"--kubeconfig={given.kubeconfig}", *more]
    exercised = sum(bool(spec_flows) for spec_flows in SPECS.values())
    measure(f"{len(flows())} flows of {exercised} of {len(SPECS)} specs", cluster, chosen)
    measure("all flows of the default class", cluster, [])


def measure(title: str, cluster: list[str], chosen: list[str]) -> None:
    """Run flows, and print what their run's journal says of their cost."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nettests", "run", "--quiet", f"--report-dir={folder}"]
        done = subprocess.run(
            [*command, *cluster, *chosen], capture_output=True, text=True, check=False
        )
        journal = Path(folder) / "latest" / "journal.jsonl"
        if not journal.exists():
            sys.exit(f"nettests run: {done.stderr.strip() or done.stdout.strip()}")
        show(title, [json.loads(line) for line in journal.read_text().splitlines()])


def show(title: str, records: list[dict[str, Any]]) -> None:
    """Print the cost of one run: its seconds by stage, its requests by verb and resource."""
    end = records[-1]
    verdicts = ", ".join(f"{many} {verdict}" for verdict, many in end["counts"].items() if many)
    spent = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in end["stages"].items())
    print(f"{title}: exit {end['exit_code']} ({verdicts})")
    print(f"  seconds   {sum(end['stages'].values()):6.1f}   {spent}")
    sent = ", ".join(f"{many} {kind}" for kind, many in end["requests"].items())
    print(f"  requests  {sum(end['requests'].values()):6}   {sent}", flush=True)


if __name__ == "__main__":
    main()
