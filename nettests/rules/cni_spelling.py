"""The keys of a CNI configuration in one spelling, whatever their case. Pure.

Plugins are written in Go, whose JSON reader takes keys of any case: OpenShift's Windows Machine Config Operator wrote
``Name`` and ``Type`` for years, and writes ``exceptionList`` in policies today (pkg/internal/cni-conf-template.json,
pkg/nodeconfig/payload). ``type`` of a plugin and ``Type`` of a policy are one key to it and two words here.
"""

from typing import Any

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
    """Return a configuration, or a part of one, with the keys that rules read in their usual spelling."""
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
