"""Read a Corefile: domains and Pod records of CoreDNS's kubernetes plugin. Pure.

Source: CoreDNS manual, "Configuration" and plugin kubernetes: zones follow the plugin's name, or
the server block's; networks and reverse zones are no domains. Comments begin with ``#``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nettests.cluster.shapes import data_of

KEY = "Corefile"
PLUGIN = "kubernetes"
_REVERSE = (".in-addr.arpa", ".ip6.arpa")
_PODS = "pods"
DISABLED = "disabled"
"""The default of ``pods``."""


@dataclass(frozen=True, slots=True)
class KubernetesPlugin:
    """One configuration of the plugin: its domains, and its mode for Pod records."""

    domains: tuple[str, ...]
    pods: str


@dataclass(frozen=True, slots=True)
class Corefile:
    """The plugin's configurations in a Corefile, and its origin or why there is none."""

    plugins: tuple[KubernetesPlugin, ...]
    origin: str

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains of all configurations, each once."""
        return tuple(dict.fromkeys(domain for item in self.plugins for domain in item.domains))


def corefile_of(config_maps: Mapping[str, dict[str, Any]]) -> Corefile:
    """Return the first Corefile in a ConfigMap that configures the plugin."""
    for name, item in config_maps.items():
        plugins = plugins_of(data_of(item).get(KEY, ""))
        if plugins:
            return Corefile(plugins, f"ConfigMap {name}")
    return Corefile((), f"no {KEY} that may be read configures the plugin {PLUGIN}")


def plugins_of(text: str) -> tuple[KubernetesPlugin, ...]:
    """Return each configuration of the plugin in a Corefile, in order."""
    # samples: .:53 {                        cluster.local:53 {
    #              kubernetes cluster.local in-addr.arpa ip6.arpa {      kubernetes
    #                  pods insecure         }
    plugins: list[KubernetesPlugin] = []
    depth, zones, open_plugin = 0, [], False
    for words in _lines(text):
        opens = words[-1] == "{"
        if depth == 0 and opens:
            zones = words[:-1]
        elif depth == 1 and words[0] == PLUGIN:
            named = [word for word in words[1:] if word != "{"]
            domains = tuple(dict.fromkeys(_domains(named) or _domains(zones)))
            plugins.append(KubernetesPlugin(domains, DISABLED))
            open_plugin = opens
        elif depth == 2 and open_plugin and words[0] == _PODS and len(words) > 1:
            plugins[-1] = KubernetesPlugin(plugins[-1].domains, words[1])
        depth += words.count("{") - words.count("}")
        open_plugin = open_plugin and depth > 1
    return tuple(plugins)


def _lines(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        words = re.sub(r"(?:^|\s)#.*", "", line).replace(",", " ").split()
        if words:
            yield words


def _domains(zones: list[str]) -> list[str]:
    """Return the zones that are domains: no reverse zones, no networks, not the root."""
    # samples: cluster.local, cluster.local:53, dns://cluster.local., in-addr.arpa, 10.0.0.0/24, .:53
    names = [re.sub(r"^\w+://|:\d+$", "", zone).rstrip(".").lower() for zone in zones]
    return [
        name
        for name in names
        if re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", name) and not f".{name}".endswith(_REVERSE)
    ]
