"""Rules about the policies in CNI files: written as the plugin that is called, and HNS' schema behind it, take them.

Docker's nodes have HNS' first schema (``ExceptionList`` beside ``Type``), containerd's the second (``Settings``).
Sources: microsoft/windows-container-networking ``network/policy.go``, containernetworking/plugins ``pkg/hns``
(``apiVersion``), sig-windows-tools' configuration for containerd.
"""

from collections.abc import Iterator

from nettests.rules.cni import SDN, configurations
from nettests.rules.evidence import Evidence, Finding, NothingThereError, Object, finding

REFERENCE = frozenset({"win-bridge", "win-overlay"})
"""containernetworking's plugins, which speak either schema: the second where ``apiVersion`` is 2."""
SECOND = 2
LISTS = ("AdditionalArgs", "policies", "HcnPolicyArgs")
"""Where plugins look for policies: Microsoft's in the first, containernetworking's in the others."""


def policy_form(evidence: Evidence) -> Finding:
    """Every policy is written in the schema that the plugin speaks, and that the container runtime needs."""
    runtime = evidence.fact("runtime").partition("://")[0]
    wrong: list[str] = []
    good = 0
    for part in (each for one in configurations(evidence) for each in _delegates(one)):
        plugin = str(part.get("type") or "").lower().removesuffix(".exe")
        if plugin not in SDN | REFERENCE:
            continue
        said = list(_wrong(plugin, part, runtime))
        wrong += said
        good += not said
    if not good and not wrong:
        raise NothingThereError("the CNI configuration calls no plugin that the documents speak of")
    return finding(
        not wrong,
        "; ".join(dict.fromkeys(wrong)) or f"policies as the plugin takes them with {runtime}",
        "policies with Settings for sdnbridge and sdnoverlay; for win-bridge and win-overlay with containerd "
        "apiVersion 2 and Settings, with Docker neither",
        of=good + len(wrong),
    )


def _wrong(plugin: str, part: Object, runtime: str) -> Iterator[str]:
    """Yield what is wrong with what one plugin is called with."""
    second = plugin in SDN
    if plugin in REFERENCE:
        told = part.get("apiVersion", part.get("ApiVersion"))
        second = told == SECOND
        if runtime == "containerd" and not second:
            yield (
                f"{plugin} without apiVersion: 2, which asks HNS' first schema for containers that only Docker has"
            )
            second = True
        if runtime == "docker" and second:
            yield f"{plugin} with apiVersion: 2, whose endpoints Docker does not attach"
    for policy in _policies(part):
        kind, settings = policy.get("Type"), isinstance(policy.get("Settings"), dict)
        if second and not settings:
            yield f"{plugin} with {kind} without Settings, which it does not take"
        if not second and settings:
            yield f"{plugin} with {kind} in Settings, which HNS' first schema does not know"


def _policies(part: Object) -> Iterator[Object]:
    # samples: {"Name": "EndpointPolicy", "Value": {"Type": "OutBoundNAT", "ExceptionList": [...]}} (first),
    #          {"Name": "EndpointPolicy", "Value": {"Type": "OutBoundNAT", "Settings": {...}}} (second)
    for key in LISTS:
        for one in part.get(key) or []:
            value = one.get("Value", one.get("value", one))
            if isinstance(value, dict) and value.get("Type"):
                yield value


def _delegates(one: Object) -> Iterator[Object]:
    for part in one.get("plugins") or [one]:
        yield part
        if isinstance(part.get("delegate"), dict):
            yield part["delegate"]
