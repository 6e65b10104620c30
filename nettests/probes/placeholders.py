"""Placeholders in a case's Pod for values known after deployment: addresses, names, a node's build. Pure.

Used by ``starting``.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from nettests.model.check import Action
from nettests.model.dns_names import SERVICE_FQDN, absolute
from nettests.model.facts import Address, ClusterFacts
from nettests.model.json_text import Object
from nettests.plan.pods import BUILD, OTHER, SERVICE_ADDRESS, SERVICE_NAME, SERVICE_VARIABLE
from nettests.probes.addresses import domain_of
from nettests.probes.deployment import StandingPod, StandingService


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholders:
    """The values of placeholders for one action."""

    texts: Mapping[str, str]

    @classmethod
    def of(
        cls,
        action: Action,
        facts: ClusterFacts,
        namespace: str,
        standing: Mapping[str, StandingPod],
        services: Mapping[str, StandingService],
    ) -> "Placeholders":
        """Return the values of the server, the Service and the node that a case may name."""
        texts: dict[str, str] = {}
        if other := standing.get(action.target.pod or ""):
            texts[OTHER] = _host(other.addresses, action)
        if service := services.get(action.target.service or ""):
            if _names(action, SERVICE_NAME):
                names = {"namespace": namespace, "domain": domain_of(facts)}
                texts[SERVICE_NAME] = absolute(SERVICE_FQDN).format(service=service.name, **names)
            texts[SERVICE_VARIABLE] = service.name.upper().replace("-", "_")
            if service.addresses:
                texts[SERVICE_ADDRESS] = _host(service.addresses, action)
        build = facts.node(action.source.node).build.value if action.source.node else None
        if build is not None:
            texts[BUILD] = f"10.0.{build.build}"
        return cls(texts=texts)

    def within(self, text: str) -> str:
        """Return a text with its placeholders filled in."""
        for placeholder, value in self.texts.items():
            text = text.replace(placeholder, value)
        return text

    def then(self, action: Action) -> Action:
        """Return an action with the placeholders of its follow-up commands and texts filled in."""
        case = action.case
        if case is None or case.then is None:
            return action
        words = tuple(map(self.within, case.then.words))
        then = replace(case.then, words=words, says=self.within(case.then.says))
        return replace(action, case=replace(case, then=then))

    def filled(self, manifest: Object) -> Object:
        """Return an object with its placeholders filled in."""
        filled: Object = json.loads(self.within(json.dumps(manifest)))
        return filled


def _names(action: Action, placeholder: str) -> bool:
    case = action.case
    if case is None:
        return False
    later = () if case.then is None else (*case.then.words, case.then.says)
    return any(placeholder in text for text in (case.object, *later))


def _host(addresses: Iterable[Address], action: Action) -> str:
    return str(next(address for address in addresses if address.version == action.family.version))
