"""The CNI configuration of a Windows node: the one file that the container runtime uses.

containerd loads the lexically first ``.conf``, ``.conflist`` or ``.json`` of its folder, and no
other if that one is broken (containerd/go-cni ``opts.go``, ``loadFromConfDir``); its own
configuration names the folder (``conf_dir``). If that is unknown, the first file of each folder
that installers use counts. No rule is declared here.

Plugins are written in Go, whose JSON decoder ignores the case of keys, so keys are respelled:
OpenShift's Windows Machine Config Operator long wrote ``Name`` and ``Type``, and still writes
``exceptionList`` in policies (pkg/internal/cni-conf-template.json, pkg/nodeconfig/payload). A
plugin's ``type`` and a policy's ``Type`` are the same key there, but two here.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from nettests.model.grouping import grouped
from nettests.model.json_text import Object
from nettests.model.powershell import to_the_end
from nettests.rules import reduction
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.kubelet import CONTAINERD
from nettests.rules.readings import ToolOutput

SETTINGS = frozenset(reduction.KEPT["cni"])
"""Settings of a CNI configuration that are kept, and the objects around them."""
FOLDERS = (
    *(r"C:\etc\cni\net.d", r"C:\k\cni\config", r"C:\Program Files\containerd\cni\conf"),
    *(r"C:\k\azurecni\netconf", r"C:\etc\kubernetes\cni\config"),
    *(r"C:\ProgramData\Amazon\EKS\cni\config", r"C:\var\lib\rancher\rke2\agent\etc\cni"),
)
"""Folders of kubeadm and most plugins, OpenShift, containerd itself, AKS, GKE, EKS and RKE2."""
_NAMED = "# "
"""Precedes a file's name, above its text."""
_LISTED = "','".join(FOLDERS)
_SCRIPT = (
    f"foreach ($folder in '{_LISTED}') "
    "{ if (Test-Path -LiteralPath $folder) { foreach ($file in (Get-ChildItem -LiteralPath $folder)) "
    "{ if ('.conf','.conflist','.json' -contains $file.Extension) "
    f"{{ '{_NAMED}' + $file.FullName; Get-Content -Raw -LiteralPath $file.FullName }} }} }} }}"
)
# samples: // kept by ops, # kept by ops, /* kept by ops */; what stands in quotes is none
_COMMENT = re.compile(
    r"(?P<text>\"(?:\\.|[^\"\\\n])*\")|//[^\n]*|/\*.*?\*/|(?m:^[ \t]*#[^\n]*)", re.DOTALL
)
_BOM = ("\ufeff", "\u00ef\u00bb\u00bf", "\u2229\u2557\u2510")
"""UTF-8's byte order mark, also as decoded with code pages 1252 and 437."""
_NOTHING = "(no JSON: "


def _keep(text: str) -> str:
    reduced: list[str] = []
    for name, content in _files(text):
        reduced += [f"{_NAMED}{name}"] if name else []
        values, rest = _values(content)
        reduced += [json.dumps(reduction.named(spelled(value), SETTINGS)) for value in values]
        reduced += [f"{_NOTHING}{rest} characters)"] if rest else []
    return "\n".join(reduced)


CNI = ToolOutput(name="cni-configuration", words=to_the_end(_SCRIPT), keep=_keep)
CNI_READINGS = (CNI, CONTAINERD)
"""The readings that contain the configuration."""


def configurations(evidence: Evidence) -> list[Object]:
    """Return the CNI configuration in use; of each folder if the runtime's is unknown."""
    parsed: list[Object] = []
    for name, content in _taken(list(_files(evidence.text(CNI))), _folder(evidence)):
        values, rest = _values(content)
        if not values:
            raise UnreadableError(f"{name or 'a CNI configuration on the node'} is not JSON")
        if rest:
            raise UnreadableError(
                f"{name or 'a CNI configuration on the node'} is not JSON at its end"
            )
        parsed += [spelled(value) for value in values if isinstance(value, dict)]
    if not parsed:
        raise UnreadableError("there is no CNI configuration in the folders that were read")
    return parsed


def _files(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and contents; text without names is of files printed one after the other."""
    # sample: # C:\etc\cni\net.d\10-flannel.conf⏎{"cniVersion": "0.3.0", …}
    first, *rest = re.split(rf"(?m)^{_NAMED}(?=[A-Za-z]:\\)", text.replace("\r", ""))
    if first.strip():
        yield "", first
    for part in rest:
        name, _, content = part.partition("\n")
        yield name.strip(), content


def _values(content: str) -> tuple[list[Any], int]:
    """Return the JSON values in a text without comments, and the length of a non-JSON rest."""
    text = content.lstrip()
    for mark in _BOM:
        text = text.replace(mark, "")
    text = _COMMENT.sub(lambda match: match["text"] or " ", text)
    decoder, position = json.JSONDecoder(), 0
    values: list[Any] = []
    while start := re.compile(r"\S").search(text, position):
        try:
            value, position = decoder.raw_decode(text, start.start())
        except ValueError:
            return values, len(text) - start.start()
        values.append(value)
    return values, 0


def _folder(evidence: Evidence) -> str:
    # samples: conf_dir = "C:\\k\\azurecni\\netconf", conf_dir = 'C:\etc\cni\net.d', conf_dir = "c:/etc/cni/net.d"
    text = evidence.texts.get(CONTAINERD.name, "")
    match = re.search(r"(?m)^[ \t]*conf_dir[ \t]*=[ \t]*['\"]([^'\"\n]+)['\"]", text)
    return _plain(match[1].replace("\\\\", "\\")) if match else ""


def _taken(files: list[tuple[str, str]], folder: str) -> list[tuple[str, str]]:
    """Return the first file of the runtime's folder, or of each folder; all files without names."""
    if not any(name for name, _ in files):
        return files
    by_folder = grouped(
        (_plain(name.rpartition("\\")[0]), (name, content)) for name, content in files
    )
    if folder and folder not in by_folder:
        raise UnreadableError(
            f"containerd takes its CNI configuration from {folder}: none was read there"
        )
    wanted = [by_folder[folder]] if folder else list(by_folder.values())
    return [min(group, key=lambda file: file[0].rpartition("\\")[2]) for group in wanted]


def _plain(path: str) -> str:
    return path.replace("/", "\\").rstrip("\\").lower()


LISTS = ("AdditionalArgs", "policies", "HcnPolicyArgs")
"""Where plugins look for policies: Microsoft's in the first, containernetworking's in the others."""
_OF_PLUGINS = (
    *("cniVersion", "name", "type", "plugins", "delegate", "ipam", "apiVersion"),
    *("optionalFlags", "enableDualStack", "loopbackDSR", *LISTS),
    *("enableLoopbackDSR", "windows_loopback_DSR"),
)
_OF_POLICIES = (
    *("Name", "Value", "Type", "Settings", "ExceptionList", "Exceptions"),
    *("DestinationPrefix", "NeedEncap", "ProviderAddress", "PA"),
)
_PLUGIN = {word.lower(): word for word in _OF_PLUGINS}
_POLICY = {word.lower(): word for word in _OF_POLICIES}


def spelled(value: Any, *, of_policy: bool = False) -> Any:
    """Return a configuration, or part of one, with keys in their usual spelling."""
    if isinstance(value, list):
        return [spelled(item, of_policy=of_policy) for item in value]
    if not isinstance(value, dict):
        return value
    words = _POLICY if of_policy else _PLUGIN
    respelled: dict[str, Any] = {}
    for key, item in value.items():
        usual = words.get(str(key).lower(), str(key))
        respelled[usual] = spelled(item, of_policy=of_policy or usual in LISTS)
    return respelled
