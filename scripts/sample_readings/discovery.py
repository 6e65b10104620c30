"""What is read of a cluster's objects, and of the files and tools of its Windows nodes: facts, and findings of rules.

``discover:KEY`` is a fact of a whole cluster, ``discover:NODE.KEY`` one of its nodes; ``rules:NAME`` is the finding of a
rule on one text. A sample holds one part of what a rule reads; the rest is a node of ``_beside``.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from nettests.cluster import networks, nodes
from nettests.cluster.corefile import corefile_of
from nettests.cluster.discover import discover
from nettests.model.cluster_profile import ClusterProfile, StatedFacts
from nettests.model.dns_names import DEFAULT_DOMAIN
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.observation import NodeReading
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS, Family
from nettests.parse import host_facts
from nettests.rules import RULES, cni_files, dns_suffixes, flannel
from nettests.rules.evidence import Evidence, NothingThereError, UnreadableError
from nettests.rules.kube_proxy_on_host import readings_of
from nettests.rules.readings import Reading as ReadingOfRule
from nettests.rules.readings import ToolOutput
from scripts.sample_readings.node_beside import (
    NAME,
    NODE_INFO,
    facts_beside,
    services_beside,
    texts_beside,
)
from scripts.sample_readings.sample import Read, Reading, Sample, kept_of
from scripts.sample_readings.served import Served

OF_CLUSTER: Mapping[str, Callable[[ClusterFacts], Fact[Any]]] = {
    "platform": lambda facts: facts.platform,
    "plugin": lambda facts: facts.cni.plugin,
    "backend": lambda facts: facts.cni.backend,
    "vni": lambda facts: facts.cni.vni,
    "port": lambda facts: facts.cni.vxlan_port,
    "loopbackDsr": lambda facts: facts.cni.loopback_dsr,
    "dns": lambda facts: facts.dns_address,
    "domain": lambda facts: facts.cluster_domain,
    "podRecords": lambda facts: facts.pod_records,
    "podCidrs": lambda facts: facts.pod_cidrs,
    "serviceCidrs": lambda facts: facts.service_cidrs,
}
OF_NODE: Mapping[str, Callable[[NodeFacts], Any]] = {
    "build": lambda node: node.build,
    "runtime": lambda node: node.runtime,
    "kubelet": lambda node: node.kubelet,
    "hostProcess": lambda node: node.host_process,
    "driver": lambda node: node.cni_driver,
    "mode": lambda node: node.kube_proxy.mode,
    "dsr": lambda node: node.kube_proxy.dsr,
    "vip": lambda node: node.kube_proxy.source_vip,
    "proxyVersion": lambda node: node.kube_proxy.version,
    "asPod": lambda node: node.kube_proxy.as_pod,
    "leftOut": lambda node: node.left_out or "-",
    "podCidrs": lambda node: ", ".join(map(str, node.pod_cidrs)) or None,
}


def _shown(value: Any) -> str:
    """Return a value in the words of the index."""
    inner = value.value if isinstance(value, Fact) else value
    return "UNKNOWN" if inner is None else str(inner)


def _due(text: str, expected: str) -> Read:
    """Compare: one of several texts in a tuple, or the same, or what begins with it."""
    if text == "UNKNOWN":
        return Read(text=f"unknown: {text}")
    return Read(
        text=text, right=text == expected or (expected.startswith("('") and text in expected)
    )


def _of_cluster(sample: Sample) -> Read:
    facts = discover(Served(json.loads(sample.text)), ClusterProfile())  # type: ignore[arg-type]
    key = sample.reading.partition(":")[2]
    node, _, of_node = key.rpartition(".")
    value = OF_NODE[of_node](facts.node(node)) if node else OF_CLUSTER[key](facts)
    if isinstance(value, Fact) and value.value is None:
        return Read(text=f"unknown: {value.origin}")
    return _due(_shown(value), sample.expected)


def _of_node(sample: Sample) -> Read:
    node = json.loads(sample.text)
    name = sample.reading.partition(".")[2]
    if name == "left_out":
        text = nodes.left_out(node, ClusterProfile()) or "-"
        return Read(
            text=text, right=sample.expected in text if sample.expected != "-" else text == "-"
        )
    value = getattr(nodes, name)(node)
    if name == "kubelet_of":  # the index has versions as the API spells them
        return Read(
            text=_shown(value), right=value.value == KubernetesVersion.parse(sample.expected)
        )
    return _due(_shown(value), sample.expected)


READING_OF = {
    "cni-": ("cni-configuration",),
    "services-": ("service-names", "service-names-beside-kube-proxy"),
    "service-": ("kubelet-service",),
    "kubeproxy-": ("kube-proxy-command-line",),
    "configz-": ("kube-proxy-configz",),
    "hns-net-": ("hns-networks",),
    "hns-ep-": ("hns-endpoints",),
    "hns-pol-": ("hns-policy-lists",),
    "containerd-": ("containerd-configuration",),
    "sourcevip-": ("source-vip-files",),
    "kubelet-": ("kubelet-settings",),
    "bom-": ("cni-configuration",),
    "two-files-": ("cni-configuration",),
}
"""Beginnings of files' names, and the readings that would print such a text."""
READ_BY_NAME = {reading.name: reading for rule in RULES.values() for reading in rule.reads}


def evidence_of(file: str, text: str, rule: str) -> Evidence:
    """Return what a rule would find on a node whose tool printed the text."""
    names = next((names for begin, names in READING_OF.items() if file.startswith(begin)), ())
    texts = {**texts_beside(text), **dict.fromkeys(names, text)}
    services = services_beside(text) if file.startswith("services-") else {}
    readings = {reading.name: reading for reading in RULES[rule].reads}
    for name, reading in readings.items():
        key = _service_of(reading)
        if key.lower() in services:
            texts[name] = services[key.lower()]
    wanted = {name: kept_of(readings[name], texts[name]) for name in readings if name in texts}
    problems = {name: f"{name} was not read" for name in readings if name not in texts}
    return Evidence(texts=wanted, problems=problems, facts=facts_beside(file, text))


def _service_of(reading: ReadingOfRule) -> str:
    """Return the Windows service whose settings a reading queries, or nothing."""
    if not isinstance(reading, ToolOutput) or reading.words[:2] != ("reg.exe", "query"):
        return ""
    return reading.words[2].rpartition("\\Services\\")[2] if len(reading.words) > 3 else ""


def _by_rule(sample: Sample) -> Read:
    name = sample.reading.partition(":")[2]
    try:
        finding = RULES[name].demand(evidence_of(sample.file, sample.text, name))
        text = f"{'conforms' if finding.conforms else 'deviates'}: {finding.detail}"
    except NothingThereError as error:
        text = f"NothingThere: {error.message}"
    except UnreadableError as error:
        text = f"Unreadable: {error.message}"
    due = re.sub(r"\s+\([^|]*\)$", "", sample.expected)
    return Read(text=text, right=re.search(due, text) is not None)


def _corefile(sample: Sample) -> Read:
    read = corefile_of({"kube-system/coredns": {"data": {"Corefile": sample.text}}})
    if sample.reading.endswith("cluster_domain"):
        value: Fact[Any] = networks.cluster_domain(read, {}, StatedFacts())
    else:
        value = networks.pod_records(read)
    return Read(text=str(value.value), right=str(value.value) == sample.expected)


def _suffixes(sample: Sample) -> str | Read:
    listed = dns_suffixes.suffixes_of(kept_of(dns_suffixes.IN_POD, sample.text), DEFAULT_DOMAIN)
    if sample.reading.endswith("kind_of"):
        return str(dns_suffixes.kind_of(listed, DEFAULT_DOMAIN))
    return Read(text=str(listed), right=str(listed) == sample.expected)


def _folder(sample: Sample) -> str:
    folder = sample.file.partition(":")[2]
    return "read" if folder.lower() in " ".join(cni_files.CNI.words).lower() else "not read"


def _source_vip(sample: Sample) -> str:
    path, _, content = sample.text.partition(" ")
    folder = path.replace("/", "\\").rpartition("\\")[0].lower()
    looked_at = folder in " ".join(flannel.SOURCE_VIP_FILES.words).lower()
    kept = kept_of(flannel.SOURCE_VIP_FILES, content)
    return "read" if looked_at and re.search(r"\d+\.\d+\.\d+\.\d+", kept) else f"not read: {kept}"


def _host_facts(sample: Sample) -> Read:
    readings = {
        reading.name: reading for reading in readings_of(OS.WINDOWS, "curl.exe", Family.IPV4)
    }
    taken = [
        NodeReading(
            node=NAME,
            reading=name,
            probe="node",
            command=readings[name].words,
            exit_code=0 if text else 7,
            stdout=kept_of(readings[name], text),
        )
        for name, text in json.loads(sample.text)["readings"]
    ]
    address = {"type": "InternalIP", "address": "10.0.140.99"}
    status = {"nodeInfo": NODE_INFO, "addresses": [address]}
    sample_of_node = {"metadata": {"name": NAME}, "status": status}
    facts = discover(Served({"nodes": [sample_of_node]}), ClusterProfile())  # type: ignore[arg-type]
    key = sample.reading.partition(":")[2]
    value = getattr(host_facts.completed(facts, taken).node(NAME).kube_proxy, key)
    return _due(_shown(value), sample.expected)


READINGS: Mapping[str, Reading] = {
    "discover:*": _of_cluster,
    "nodes.*": _of_node,
    "rules:*": _by_rule,
    "networks.*": _corefile,
    "rules.dns_suffixes.*": _suffixes,
    "rules.cni.CNI.words": _folder,
    "rules.flannel.SOURCE_VIP_FILES": _source_vip,
    "host_facts.completed:*": _host_facts,
}
