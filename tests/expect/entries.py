"""Manifests and checks for tables of expectations: what matters is stated."""

import re
from dataclasses import replace
from textwrap import indent
from typing import Any

from nettests.expect import Manifest, read_manifest
from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.expectation import Expected
from nettests.model.words import (
    OS,
    Outcome,
    Placement,
    Protocol,
    Resolver,
    TargetKind,
    VantageKind,
)

ENTRY = """- id: {id}
  summary: in short
  flows: [some-flow]
{body}
  mechanism: it is so
  category: platform
  sources: [{{document: A page, section: Limitations{names}}}]
"""
SITE = "  reason: ours\n  review_by: 2026-12-31\n"


def manifest(layer: str = "base", **bodies: str) -> Manifest:
    """Return a manifest with one entry a keyword; ``_`` in a name stands for ``-``."""
    return read_manifest(text(layer, **bodies), f"{layer}.yaml")


def text(layer: str = "base", **bodies: str) -> str:
    """Return the text of such a manifest."""
    entries = "".join(
        ENTRY.format(id=name.replace("_", "-"), body=_body(body), names=_named(body))
        + (SITE if layer == "site" else "")
        for name, body in bodies.items()
    )
    head = f"apiVersion: nettests.dev/v1alpha1\nkind: LimitationManifest\nlayer: {layer}\n"
    return f"{head}limitations:\n{entries}" if entries else f"{head}limitations: []\n"


def _body(body: str) -> str:
    """Return the body; an open one says what would settle it, unless it does so itself."""
    whole = body.strip()
    if "unspecified" in whole and "settled_by" not in whole:
        whole += "\nsettled_by: a test"
    return indent(whole, "  ")


def _named(body: str) -> str:
    """Return what makes the source name the one outcome that the entry expects."""
    found = re.search(r"outcome: (timed_out|refused|unreachable|lost)\b", body)
    return f", names: {found[1]}" if found else ""


def check(
    source: str | None = "win-1",
    target: str | Target | None = "win-2",
    *,
    protocol: Protocol = Protocol.TCP,
    placement: Placement = Placement.OTHER_NODE,
    resolver: Resolver | None = None,
    claim: Expected | None = None,
    **action: Any,
) -> Check:
    """Return a check of ``some-flow`` between nodes of the test profiles, by name."""
    question = Action(
        source=Vantage(
            kind=VantageKind.POD if source else VantageKind.EXTERNAL,
            probe=f"probe-{source}",
            os=_os(source),
            node=source,
        ),
        target=_target(target),
        protocol=protocol,
        resolver=resolver,
    )
    return Check(
        id=f"some-flow/{source}/{question.target.node}/{placement}/{protocol}",
        flow="some-flow",
        title="here → there",
        action=replace(question, **action),
        placement=placement,
        claim=claim or Expected(outcome=Outcome.CONNECTED),
        controls=(),
        sources=(),
    )


def _target(target: str | Target | None) -> Target:
    if isinstance(target, Target):
        return target
    return Target(kind=TargetKind.SERVICE_CLUSTERIP, os=_os(target), node=target)


def _os(node: str | None) -> OS | None:
    if node is None:
        return None
    return OS.WINDOWS if node.startswith("win") else OS.LINUX
