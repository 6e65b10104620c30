"""Rules about a Windows node's kubelet and container runtime: DNS, resolver, pause image.

Read from the kubelet's command line and configuration file, and from containerd's: the kubelet's
own ``/configz`` needs a permission (``nodes/proxy``) that also allows running commands in every Pod
of the node. Sources: "DNS for Services and Pods", "Windows debugging tips", kubelet
``pkg/kubelet/network/dns/dns_windows.go``, Kubernetes ``build/pause``.
"""

import json
import re
from collections.abc import Mapping

from nettests.errors import ManifestError
from nettests.model.flags import flags_in_arguments
from nettests.model.json_text import Object
from nettests.model.powershell import to_the_end
from nettests.model.versions import WindowsBuild
from nettests.model.yaml_text import plain_yaml
from nettests.rules import reduction
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.node import NODE
from nettests.rules.readings import ToolOutput, printed_if_there

PROCESS = "kubelet.exe"
FLAGS: Mapping[str, str] = {
    "cluster-dns": "clusterDNS",
    "cluster-domain": "clusterDomain",
    "resolv-conf": "resolvConf",
    "hairpin-mode": "hairpinMode",
}
"""Flags that are kept, with their configuration keys; a flag takes precedence over the file."""
OWN_FLAGS = ("config", "config-dir", "node-ip", "pod-infra-container-image")
"""Flags without a configuration key."""
DEFAULT_RESOLV_CONF = "/etc/resolv.conf"
"""The kubelet's default, on Windows too (``kubetypes.ResolvConfDefault``)."""
HOST = "Host"
"""The only value besides "" that the kubelet on Windows accepts for ``resolvConf``: the node's own
DNS client."""
PAUSE_OF_BUILD = {
    17763: ((3, 4), None),
    18362: ((3, 4), (3, 6)),
    18363: ((3, 4), (3, 6)),
    19041: ((3, 4), (3, 6)),
    19042: ((3, 4, 1), None),
    20348: ((3, 6), None),
}
"""First and last Kubernetes pause image with a manifest for a build; ``None`` if still current."""
SCRIPT = (
    f"$kubelets = @(Get-CimInstance Win32_Process | Where-Object Name -EQ {PROCESS}); "
    "$line = [string]$kubelets.CommandLine; "
    f"if ($kubelets -and -not $line) {{ throw 'the command line of {PROCESS} is not shown' }}; $line; "
    "if ($line.Replace([string][char]34, '') -match '--config[= ](.+?)( --|$)') "
    "{ Get-Content -Raw -LiteralPath $Matches[1] }"
)
"""Without quotation marks, which a Windows command line may lose; 34 is that character."""


def _keep_settings(text: str) -> str:
    line, _, file = text.lstrip().partition("\n")
    flags = reduction.flags(line, (*FLAGS, *OWN_FLAGS))
    command = " ".join([PROCESS, *flags])
    if not file.strip():  # an unreadable file is not an empty one
        return f"{command}\n"
    settings = _file(file)
    reduced = {name: settings[name] for name in FLAGS.values() if name in settings}
    return f"{command}\n{json.dumps(reduced)}\n"


def _file(text: str) -> Object:
    """Parse a configuration file in YAML or JSON; ``ValueError`` if it is neither."""
    if not text.strip():
        return {}
    try:
        loaded = plain_yaml(text)
    except ManifestError as error:
        raise ValueError(error.message) from error
    if not isinstance(loaded, dict):
        raise ValueError("it is no configuration")  # noqa: TRY004 - a text that says something else
    return loaded


KUBELET = ToolOutput(name="kubelet-settings", words=to_the_end(SCRIPT), keep=_keep_settings)
FILES_OF_LINUX = (r"C:\etc\resolv.conf", r"C:\run\systemd\resolve\resolv.conf")
"""Where the kubelet looks, on its own drive, for a ``resolvConf`` meant for Linux: the default, and
kubeadm's choice with systemd-resolved."""
RESOLV_CONF_FILES = ToolOutput(
    name="resolv-conf-files",
    words=to_the_end(
        "Test-Path -PathType Leaf -LiteralPath " + ",".join(f"'{path}'" for path in FILES_OF_LINUX)
    ),
    keep=reduction.lines(r"(?m)^(?:True|False)\b"),
)
CONTAINERD = ToolOutput(
    name="containerd-configuration",
    words=printed_if_there(
        r"C:\Program Files\containerd\config.toml",
        r"C:\var\lib\rancher\rke2\agent\etc\containerd\config.toml",
    ),
    # samples: sandbox_image = "registry.k8s.io/pause:3.6", in later releases: sandbox = 'registry.k8s.io/pause:3.10'
    #          conf_dir = "C:\\k\\azurecni\\netconf"
    keep=reduction.lines(
        r"(?m)^[ \t]*(?:sandbox(?:_image)?|conf_dir)[ \t]*=[ \t]*['\"][^'\"\n]*['\"]"
    ),
)


@rule(about=(), reads=(KUBELET,))
def kubelet_cluster_dns(evidence: Evidence) -> Finding:
    """The kubelet gives Pods the cluster's DNS."""
    wanted = _of_cluster(evidence, "dns-address")
    given = _settings(evidence).get("clusterDNS") or []
    addresses = given.split(",") if isinstance(given, str) else list(map(str, given))
    observed = f"clusterDNS {', '.join(addresses) or 'not set'}"
    return finding(wanted in addresses, observed, f"{wanted}, the cluster's DNS Service", of=1)


@rule(about=(), reads=(KUBELET,))
def kubelet_cluster_domain(evidence: Evidence) -> Finding:
    """The kubelet gives Pods the suffix of the cluster's domain."""
    wanted = _of_cluster(evidence, "cluster-domain")
    given = str(_settings(evidence).get("clusterDomain") or "").rstrip(".")
    return finding(given == wanted, f"clusterDomain {given or 'not set'}", wanted, of=1)


@rule(about=(), reads=(KUBELET, RESOLV_CONF_FILES))
def kubelet_resolv_conf(evidence: Evidence) -> Finding:
    """The kubelet's resolvConf is not a Linux path (the default), unless that file exists."""
    settings = _settings(evidence)
    resolv_conf = settings.get("resolvConf")
    if resolv_conf is None and settings.get("config-dir"):
        raise NothingThereError(f"what the files in {settings['config-dir']} say is not read")
    given = DEFAULT_RESOLV_CONF if resolv_conf is None else str(resolv_conf)
    there = given in {"", HOST} or _is_file(given, evidence)
    shown = f"resolvConf {'not set, which is ' if resolv_conf is None else ''}{given or 'empty'}"
    return finding(
        there,
        f"{shown}, a file of the node" if there and given not in {"", HOST} else shown,
        f'nothing ("") or {HOST}, which Windows takes for the node\'s own, or a file that is there',
        of=1,
    )


def _is_file(given: str, evidence: Evidence) -> bool:
    """Whether a path is a file on the node; a path without a drive is on the kubelet's own."""
    path = given.replace("/", "\\")
    path = f"C:{path}" if path.startswith("\\") else path
    answers = evidence.text(RESOLV_CONF_FILES).split()
    if len(answers) != len(FILES_OF_LINUX):
        raise UnreadableError(f"Test-Path does not say whether {given} is a file of the node")
    is_there = dict(zip(map(str.lower, FILES_OF_LINUX), answers, strict=True))
    if path.lower() not in is_there:
        raise NothingThereError(f"whether {given} is a file of the node is not read")
    return is_there[path.lower()] == "True"


@rule(about=(), reads=(NODE, KUBELET, CONTAINERD))
def pause_image(evidence: Evidence) -> Finding:
    """The pause image has a manifest for the node's build; without one, no Pod starts."""
    build = WindowsBuild.parse(
        str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"])
    ).build
    image = _pause_image(evidence)
    release = _release(image)
    if release is None or build not in PAUSE_OF_BUILD:
        raise NothingThereError(f"no table tells which builds {image} is made for")
    first, last = PAUSE_OF_BUILD[build]
    span = f"{_dotted(first)} or later" if last is None else f"{_dotted(first)} to {_dotted(last)}"
    return finding(
        first <= release and (last is None or release <= last),
        f"{image} on build {build}",
        f"release {span} of the pause image there",
        of=1,
    )


def _pause_image(evidence: Evidence) -> str:
    runtime = str(evidence.object(NODE)["status"]["nodeInfo"].get("containerRuntimeVersion", ""))
    if runtime.startswith("docker://"):
        image = str(_settings(evidence).get("pod-infra-container-image") or "")
        source = "the kubelet's command line"
    else:
        match = re.search(
            r"(?m)^[ \t]*sandbox\w*[ \t]*=[ \t]*['\"]([^'\"\n]*)['\"]", evidence.text(CONTAINERD)
        )
        image, source = (match[1] if match else ""), "containerd's config.toml"
    if not image:
        raise NothingThereError(f"{source} names no pause image: the runtime's own default holds")
    return image


def _release(image: str) -> tuple[int, ...] | None:
    """Return the release of Kubernetes' pause image; ``None`` for other images."""
    # samples: registry.k8s.io/pause:3.6, mcr.microsoft.com/oss/kubernetes/pause:3.6-hotfix.20220114
    match = re.search(r"(?:registry\.k8s\.io|k8s\.gcr\.io|/kubernetes)/pause:(3(?:\.\d+)+)", image)
    return tuple(map(int, match[1].split("."))) if match else None


def _dotted(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def _of_cluster(evidence: Evidence, fact: str) -> str:
    if fact not in evidence.facts:
        raise NothingThereError(f"{fact} is not known")
    return evidence.fact(fact)


def _settings(evidence: Evidence) -> Object:
    line, _, file = evidence.text(KUBELET).lstrip().partition("\n")
    if not line.strip():
        raise NothingThereError(f"no process {PROCESS} runs on the node")
    try:
        settings = _file(file)
    except ValueError as error:
        raise UnreadableError(f"the kubelet's configuration cannot be read: {error}") from error
    words = reduction.flags(line, (*FLAGS, *OWN_FLAGS))
    given = {key: value.strip("\"'") for key, value in flags_in_arguments(words).items()}
    if "config" in given and not file.strip():
        raise UnreadableError("the file that the kubelet's --config names could not be read")
    return {**settings, **{FLAGS.get(key, key): value for key, value in given.items()}}
