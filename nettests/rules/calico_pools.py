"""The rule about Calico's IP pools: how they encapsulate packets of Pods on Windows nodes.

Source: Calico's limitations for Windows, which know VXLAN everywhere or no encapsulation at all. Pools are objects
of Calico's own (``crd.projectcalico.org``); an installation that keeps them in etcd has none of these.
"""

import re
from collections.abc import Iterator

from nettests.model.permission import LIST_IP_POOLS
from nettests.rules import kept
from nettests.rules.evidence import Evidence, Finding, NothingThereError, Object, finding
from nettests.rules.hns import shown
from nettests.rules.kept import KEEP, NAMED
from nettests.rules.readings import ApiObjects, Request
from nettests.rules.rule import rule
from nettests.rules.subjects import CALICO

NEVER, CROSS_SUBNET = "Never", "CrossSubnet"
IP_POOLS = ApiObjects(
    name="calico-ip-pools",
    request=lambda _facts, _node: Request(path="/apis/crd.projectcalico.org/v1/ippools"),
    permission=LIST_IP_POOLS,
    keep=kept.items(
        {
            "metadata": NAMED,
            "spec": dict.fromkeys(
                ("cidr", "ipipMode", "vxlanMode", "nodeSelector", "disabled"), KEEP
            ),
        }
    ),
)
# samples: all(), !all(), kubernetes.io/os == 'windows', kubernetes.io/os != "linux"
_OF_SYSTEM = re.compile(r"kubernetes\.io/os\s*(?P<sign>==|!=)\s*['\"](?P<os>\w+)['\"]")


@rule(
    "calico-pools",
    about=(CALICO,),
    reads=(IP_POOLS,),
    remedy="give pools that Windows nodes take addresses from ipipMode: Never, and vxlanMode: Always or, with BGP, Never; or "
    "keep Windows nodes from them by nodeSelector",
)
def calico_pools(evidence: Evidence) -> Finding:
    """No pool of Windows nodes encapsulates by IP in IP, or by VXLAN between subnets alone."""
    if evidence.facts.get("backend") == "none":
        raise NothingThereError(
            "Calico is a policy engine here: another plugin gives the addresses"
        )
    if evidence.problems.get(IP_POOLS.name, "").endswith("status 404"):
        raise NothingThereError("the API server has no IP pools of Calico: it keeps them elsewhere")
    pools = [pool for pool in evidence.items(IP_POOLS) if _serves_windows(pool["spec"])]
    if not pools:
        raise NothingThereError(
            "no IPv4 pool of Calico says that Windows nodes take addresses from it"
        )
    wrong = [problem for pool in pools for problem in _wrong(pool)]
    names = ", ".join(f"{_name(pool)} ({_modes(pool['spec'])})" for pool in pools)
    return finding(
        not wrong,
        shown(wrong) or f"pool {names}",
        "no IP in IP, and VXLAN everywhere or not at all, where Windows nodes take addresses",
        of=len(pools),
    )


def _serves_windows(spec: Object) -> bool:
    """Whether Windows nodes take addresses from an IPv4 pool, if its selector is about operating systems only."""
    if spec.get("disabled") or ":" in str(spec.get("cidr")):
        return False
    selector = str(spec.get("nodeSelector") or "all()").strip()
    if selector == "all()":
        return True
    match = _OF_SYSTEM.fullmatch(selector)
    return match is not None and (match["os"] == "windows") is (match["sign"] == "==")


def _wrong(pool: Object) -> Iterator[str]:
    spec = pool["spec"]
    if (mode := spec.get("ipipMode") or NEVER) != NEVER:
        yield f"pool {_name(pool)} with ipipMode {mode}"
    if spec.get("vxlanMode") == CROSS_SUBNET:
        yield f"pool {_name(pool)} with vxlanMode {CROSS_SUBNET}"


def _modes(spec: Object) -> str:
    modes = (("ipipMode", spec.get("ipipMode")), ("vxlanMode", spec.get("vxlanMode")))
    return ", ".join(f"{key} {value or NEVER}" for key, value in modes)


def _name(pool: Object) -> str:
    return f"{pool['metadata']['name']} {pool['spec'].get('cidr')}"
