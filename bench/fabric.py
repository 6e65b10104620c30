"""Time the data plane: a fabric of four nodes, twelve pods, and the Service rules, whole and changed.

Prints figures for a person; nothing is asserted. Run with ``python bench/fabric.py``.
"""

import asyncio
import time
from ipaddress import IPv4Address

from nettests.lab.network import create_fabric, enter_isolated_namespaces
from nettests.lab.topology import Backend, ServicePort, profiles

PODS = 12
SERVICES = 40
BACKENDS = 2


async def measure(name: str) -> None:
    """Build the profile's fabric, attach pods, program Services; print milliseconds."""
    profile = profiles.load(name)
    started = time.perf_counter()
    fabric = await create_fabric(profile)
    built = time.perf_counter()
    nodes = list(fabric.nodes.values())
    pods = [await nodes[n % len(nodes)].attach_pod(f"pod-{n}") for n in range(PODS)]
    attached = time.perf_counter()
    backends = tuple(
        Backend(address=pod.address, port=8080, node=nodes[n % len(nodes)].spec.name)
        for n, pod in enumerate(pods)
    )
    table = tuple(
        ServicePort(
            namespace="bench",
            service=f"service-{n}",
            port_name="http",
            protocol="TCP",
            cluster_ip=IPv4Address("10.96.1.0") + n,
            port=80,
            node_port=30000 + n,
            endpoints=backends[n % PODS :][:BACKENDS],
        )
        for n in range(SERVICES)
    )
    for node in nodes:
        await node.program_services(table)
    programmed = time.perf_counter()
    for node in nodes:
        await node.program_services(table[:-1])
    changed = time.perf_counter()
    await fabric.close()
    print(
        f"{name}: fabric of {len(nodes)} nodes {1000 * (built - started):.0f} ms, "
        f"{PODS} pods {1000 * (attached - built):.0f} ms, together {1000 * (attached - started):.0f} ms; "
        f"{SERVICES} Services of {BACKENDS} backends "
        f"{1000 * (programmed - attached) / len(nodes):.1f} ms per node at once, "
        f"a change of one {1000 * (changed - programmed) / len(nodes):.1f} ms per node"
    )


def main() -> None:
    """Measure every profile that comes with the lab."""
    names = [profile.name for profile in profiles.available()]
    enter_isolated_namespaces()
    for name in names:
        asyncio.run(measure(name))


if __name__ == "__main__":
    main()
