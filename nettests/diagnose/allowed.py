"""What diagnostics keep of API objects: listed annotations, labels, variables, arguments, data.

Pure. ``steps`` passes everything through it. The lists have what rules read and what people need to
find network faults; of all else only the key is kept: no redactor knows every secret.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nettests.cluster.corefile import KEY as COREFILE
from nettests.model.labels import DOMAIN
from nettests.model.windows_programs import START_AGNHOST
from nettests.rules.pods import FLAGS, NETWORK_VARIABLE, started

LEFT_OUT = "[left out]"
_NETWORKS = (
    *("flannel.alpha.coreos.com", "projectcalico.org", "cilium.io", "k8s.ovn.org", "antrea.io"),
    *("cni.cncf.io", "istio.io", "linkerd.io", "metallb.io", "metallb.universe.tf"),
    *("vpc.amazonaws.com", "kubernetes.azure.com", "networking.gke.io", "windows.kubernetes.io"),
    *("node.alpha.kubernetes.io", "node.kubernetes.io", "endpoints.kubernetes.io", DOMAIN),
    *("service.kubernetes.io", "service.beta.kubernetes.io"),
)
"""Domains of annotations: of plugins, meshes, load balancers and Kubernetes' network components."""
_SYSTEMS = (
    *("kubernetes.io", "k8s.io", "azure.com", "amazonaws.com", "cloud.google.com", "eksctl.io"),
    *("projectcalico.org", "cilium.io", "openshift.io", "cattle.io", DOMAIN),
)
"""Domains of labels and taints: of Kubernetes, clouds and distributions."""
_LABELS = frozenset(
    {
        *("app", "agentpool", "component", "controller-revision-hash", "k8s-app", "name", "os"),
        *("pod-template-generation", "pod-template-hash", "tier", "type"),
    }
)
_VARIABLES = frozenset(
    {
        *(NETWORK_VARIABLE, "CNI_BIN_PATH", "CNI_CONFIG_PATH", "HOST_IP", "NODENAME", "NODE_IP"),
        *("NODE_NAME", "POD_IP", "POD_NAME", "POD_NAMESPACE", "SERVICE_SUBNET"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"),
    }
)
_FLAGS = frozenset(
    {
        *FLAGS,
        *("bind-address", "cluster-cidr", "conf", "healthz-bind-address", "metrics-bind-address"),
        *("masquerade-all", "root-hnsendpoint-name", "v", "port", "http-port", "udp-port"),
        *("sctp-port", "http-override", "timeout", "protocol", "delay-shutdown"),
    }
)
_WORDS = frozenset(
    {
        *START_AGNHOST,
        *("/agnhost", "connect", "netexec", "no-snat-test", "pause", "serve-hostname"),
        *("/bin/sh", "sh", "-c", "powershell.exe", "-Command", "/etc/coredns/Corefile"),
    }
)
"""Arguments that are not flags: how agnhost, CoreDNS and scripts are started."""
# samples: 80, 127.0.0.1:80
_ADDRESS = re.compile(r"[\d.:]{1,50}")
_DATA = frozenset({COREFILE, "NodeHosts"})
"""Keys of the cluster DNS's ConfigMap; K3s keeps the nodes' names in the second."""


def allowed(value: Any) -> Any:
    """Return plain data, such as an API object, with ``LEFT_OUT`` for values of unlisted keys."""
    if isinstance(value, list):
        return [allowed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _field(str(key), below) for key, below in value.items()}


def _field(key: str, value: Any) -> Any:
    match key, value:
        case "annotations", dict():
            return _listed(value, lambda name: _of_domain(name, _NETWORKS))
        case (("labels" | "matchLabels" | "nodeSelector" | "selector"), dict()):
            return _listed(value, _is_label)
        case (("data" | "binaryData"), dict()):
            return _listed(value, _DATA.__contains__)
        case "env", list():
            return [_entry(item, "name", _VARIABLES.__contains__) for item in value]
        case "taints", list():
            return [_entry(item, "key", _is_label) for item in value]
        case (("args" | "command"), list()):
            program = value[:1] if key == "command" else []
            return [*program, *_words([str(word) for word in value[len(program) :]])]
    return allowed(value)


def _listed(values: Mapping[str, Any], keep: Callable[[str], bool]) -> dict[str, Any]:
    return {
        key: allowed(value) if keep(str(key)) or not isinstance(value, str) else LEFT_OUT
        for key, value in values.items()
    }


def _entry(item: Any, named: str, keep: Callable[[str], bool]) -> Any:
    if not isinstance(item, dict) or not item.get("value") or keep(str(item.get(named))):
        return allowed(item)
    return {**item, "value": LEFT_OUT}


def _words(words: Sequence[str]) -> list[str]:
    """Return arguments: listed ones, the names of other flags, and what rules read of scripts."""
    kept: list[str] = []
    follows = False  # this word is the value of a listed flag
    for word in words:
        flag, equals, _ = word.partition("=")
        is_flag = word.startswith("-") and not any(map(str.isspace, flag))
        is_word = word in _WORDS or _ADDRESS.fullmatch(word) is not None
        listed = flag.lstrip("-") in _FLAGS if is_flag else follows or is_word
        if listed and (is_flag or not any(map(str.isspace, word))):
            kept.append(word)
        elif is_flag:
            kept.append(f"{flag}={LEFT_OUT}" if equals else flag)
        else:
            kept.append(" ".join([*started(word), LEFT_OUT]))
        follows = is_flag and listed and not equals
    return kept


def _is_label(key: str) -> bool:
    return key in _LABELS or _of_domain(key, _SYSTEMS)


def _of_domain(key: str, domains: Sequence[str]) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and f".{domain}".endswith(tuple(f".{name}" for name in domains))
