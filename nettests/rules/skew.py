"""Rules about version skew: kubelet and kube-proxy follow the version-skew policy of Kubernetes."""

from nettests.model.versions import KubernetesVersion, minors_behind, minors_beside
from nettests.rules.evidence import Evidence, Finding, finding
from nettests.rules.kube_proxy import PROXY_LOG, proxy_of
from nettests.rules.node import NODE
from nettests.rules.pods import PODS
from nettests.rules.rule import rule
from nettests.rules.subjects import KUBE_PROXY_POD


@rule(
    "kube-proxy-skew",
    about=(KUBE_PROXY_POD,),
    reads=(PODS, PROXY_LOG),
    remedy="bring kube-proxy to the version of the node's kubelet",
)
def kube_proxy_skew(evidence: Evidence) -> Finding:
    """kube-proxy follows the version-skew policy, beside the API server and beside the node's kubelet."""
    version = proxy_of(evidence).version
    behind = _skew(version, evidence.version("server"), "kube-proxy")
    if not behind.conforms:
        return behind
    kubelet = evidence.version("kubelet")
    most = minors_beside(version)
    return finding(
        version.major == kubelet.major and abs(version.minor - kubelet.minor) <= most,
        f"kube-proxy {version} beside kubelet {kubelet} and API server {evidence.version('server')}",
        f"a version at most {most} minors older or newer than the kubelet's, and one that may stand beside the "
        "API server's",
        of=1,
    )


@rule(
    "kubelet-skew",
    about=(),
    reads=(NODE,),
    remedy="upgrade the node: see the version-skew policy",
)
def kubelet_skew(evidence: Evidence) -> Finding:
    """The kubelet follows the version-skew policy."""
    text = str(evidence.object(NODE)["status"]["nodeInfo"].get("kubeletVersion", ""))
    return _skew(KubernetesVersion.parse(text), evidence.version("server"), "kubelet")


def _skew(version: KubernetesVersion, server: KubernetesVersion, who: str) -> Finding:
    """Not newer than the API server, and at most three minors older (two before 1.28)."""
    most = minors_behind(server)
    behind = server.minor - version.minor
    return finding(
        version.major == server.major and 0 <= behind <= most,
        f"{who} {version} beside API server {server}",
        f"a version at most {most} minors older than the API server's and not newer",
        of=1,
    )
