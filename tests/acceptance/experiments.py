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

    ``becomes`` is the verdict that the checks have then.
    """

    fact: str
    profile: str
    switch: str
    checks: tuple[str, ...]
    becomes: str

    def concerns(self, check: str) -> bool:
        """Whether the fact decides this check."""
        return any(fnmatchcase(check, pattern) for pattern in self.checks)


L2BRIDGE, OVERLAY, DSR = "win2019-l2bridge", "win2019-overlay", "win2022-l2bridge-dsr"

EXPERIMENTS = (
    Experiment(
        fact="node-svc-vip-docs",
        profile=L2BRIDGE,
        switch="host-rules=on",
        checks=("node-to-service-clusterip/windows-1/*",),
        becomes="lifted",
    ),
    Experiment(
        fact="nodeport-local-from-node",
        profile=L2BRIDGE,
        switch="local-routed-vip=on",
        checks=("nodeport-from-local-node/windows-1/*",),
        becomes="lifted",
    ),
    Experiment(
        fact="aff-clientip-hns",
        profile=L2BRIDGE,
        switch="session-affinity=on",
        checks=("session-affinity/windows-1/*",),
        becomes="lifted",
    ),
    Experiment(
        fact="dns-between-forms",
        profile=L2BRIDGE,
        switch="dotted-suffixes=on",
        checks=("pod-to-service-partial-name/windows-1/*/system",),
        becomes="lifted",
    ),
    Experiment(
        fact="icmp-pod-external",
        profile=L2BRIDGE,
        switch="outbound-icmp=on",
        checks=("icmp-egress/windows-1/*",),
        becomes="lifted",
    ),
    Experiment(
        fact="flow-node-remote-pod-overlay",
        profile=OVERLAY,
        switch="host-encapsulates=on",
        checks=("node-to-pod/windows-1/*/other-node/*",),
        becomes="lifted",
    ),
    Experiment(
        fact="dsr-source-ip-non-dsr",
        profile=OVERLAY,
        switch="dsr=on",
        checks=("dsr-source-address/windows-1/*",),
        becomes="lifted",
    ),
    Experiment(
        fact="dsr-source-ip-clusterip",
        profile=DSR,
        switch="dsr=off",
        checks=("dsr-source-address/windows-1/*",),
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
        becomes="fail",
    ),
)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the checks whose verdict is another one, with the new verdict."""
    return {check: after[check] for check in before if after.get(check) != before[check]}
