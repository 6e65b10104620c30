"""Read a limitation manifest from YAML: validated, errors with file, line, key and near miss.

``manifest`` has the values. Independent of any cluster.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from nettests.expect.manifest import (
    Citation,
    Condition,
    Deviation,
    Layer,
    Limitation,
    Manifest,
    NodeCondition,
)
from nettests.model.document import Document, read_document
from nettests.model.expectation import Source
from nettests.model.versions import KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.words import (
    OS,
    Category,
    Distribution,
    Family,
    NatException,
    Outcome,
    Placement,
    Protocol,
    Resolver,
    Setting,
    SourceSeen,
    SuffixList,
)
from nettests.resources import schema_of


def read_manifest(text: str, file: str) -> Manifest:
    """Parse a manifest; ``ManifestError`` with file, line, key and nearest valid word."""
    document = read_document(text, file, schema_of("limitations"))
    layer = Layer[str(document.data["layer"]).upper()]
    limitations = tuple(
        part
        for index, entry in enumerate(document.data["limitations"])
        for part in _parts(document, layer, index, entry)
    )
    seen: dict[str, Limitation] = {}
    for index, entry in enumerate(limitation for limitation in limitations if not limitation.part):
        if entry.id in seen:
            raise document.error(
                ("limitations", index, "id"),
                f"{entry.id} is defined twice, first in line {seen[entry.id].line}",
            )
        seen[entry.id] = entry
    return Manifest(file=file, layer=layer, limitations=limitations)


def _parts(document: Document, layer: Layer, index: int, entry: Any) -> Iterator[Limitation]:
    whole = _limitation(document, layer, index, entry)
    yield whole
    for number, place in enumerate(entry.get("also", ())):
        path = ("limitations", index, "also", number)
        shown = _deviation(document, (*path, "when_present"), place.get("when_present"))
        yield replace(
            whole,
            condition=_condition(document, path, place.get("when", {})),
            flows=tuple(place["flows"]),
            protocols=tuple(Protocol(word) for word in place.get("protocols", ())),
            families=tuple(Family(word) for word in place.get("families", ())),
            cases=tuple(place.get("cases", ())),
            overrides=tuple(place.get("overrides", ())),
            when_present=shown or whole.when_present,
            among=tuple(Outcome(word) for word in place.get("among", ())),
            line=document.line(path),
            part=number + 1,
        )


def _limitation(document: Document, layer: Layer, index: int, entry: Any) -> Limitation:
    path = ("limitations", index)
    if layer is Layer.SITE:
        for key in ("reason", "review_by"):
            if key not in entry:
                raise document.error(path, f"{entry['id']}: a site entry needs {key!r}")
    expected = entry.get("expected")
    return Limitation(
        id=entry["id"],
        summary=" ".join(entry["summary"].split()),
        layer=layer,
        condition=_condition(document, path, entry.get("when", {})),
        flows=tuple(entry["flows"]),
        protocols=tuple(Protocol(word) for word in entry.get("protocols", ())),
        families=tuple(Family(word) for word in entry.get("families", ())),
        cases=tuple(entry.get("cases", ())),
        deviation=_deviation(document, (*path, "expected"), expected),
        mechanism=" ".join(entry["mechanism"].split()),
        category=Category(entry["category"]),
        citations=tuple(_citation(source) for source in entry["sources"]),
        overrides=tuple(entry.get("overrides", ())),
        cancels=tuple(entry.get("cancels", ())),
        only_cancels=expected is None,
        settled_by=" ".join(entry.get("settled_by", "").split()),
        when_present=_deviation(document, (*path, "when_present"), entry.get("when_present")),
        among=tuple(Outcome(word) for word in entry.get("among", ())),
        facts=tuple(entry.get("facts", ())),
        reason=entry.get("reason", ""),
        review_by=_date(document, path, entry.get("review_by")),
        file=document.file,
        line=document.line(path),
    )


def _citation(source: Any) -> Citation:
    picked = source.get("picked")
    return Citation(
        source=Source(
            document=source["document"],
            section=source.get("section", ""),
            address=source.get("address", ""),
        ),
        names=_word(Outcome, source.get("names")),
        picked=None if picked is None else tuple(map(KubernetesVersion.parse, picked)),
    )


def _date(document: Document, path: tuple[str | int, ...], text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise document.error((*path, "review_by"), f"no such date: {text}") from error


def _deviation(document: Document, path: tuple[str | int, ...], expected: Any) -> Deviation | None:
    if expected is None or expected == "unspecified":
        return None
    # A manifest's list is a set: the outcomes get a fixed order.
    stated = expected.get("outcome", ())
    named = {Outcome(word) for word in ([stated] if isinstance(stated, str) else stated)}
    if len({outcome.positive for outcome in named}) > 1:
        raise document.error((*path, "outcome"), "one list holds failures or answers, not both")
    outcomes = tuple(outcome for outcome in Outcome if outcome in named)
    return Deviation(
        outcome=outcomes[0] if outcomes else None,
        alternatives=outcomes[1:],
        source_seen=_word(SourceSeen, expected.get("source")),
        distribution=_word(Distribution, expected.get("distribution")),
    )


def _word(kind: Any, text: str | None) -> Any:
    return None if text is None else kind(text)


def _condition(document: Document, path: tuple[str | int, ...], when: Any) -> Condition:
    cluster = when.get("cluster", {})
    here = (*path, "when")
    return Condition(
        kubernetes=_range(document, (*here, "cluster"), "kubernetes", cluster),
        platform=tuple(cluster.get("platform", ())),
        cni=tuple(cluster.get("cni", ())),
        backend=tuple(cluster.get("backend", ())),
        loopback_dsr=_settings("loopback_dsr", cluster),
        source=_node(document, (*here, "source"), when.get("source", {})),
        target=_node(document, (*here, "target"), when.get("target", {})),
        placement=tuple(Placement(word) for word in when.get("placement", ())),
        backend_placement=tuple(Placement(word) for word in when.get("backend_placement", ())),
        nat_exception=tuple(NatException(word) for word in when.get("nat_exception", ())),
        resolver=tuple(Resolver(word) for word in when.get("resolver", ())),
    )


def _node(document: Document, path: tuple[str | int, ...], node: Any) -> NodeCondition:
    return NodeCondition(
        os=_word(OS, node.get("os")),
        build=_range(document, path, "build", node),
        kubelet=_range(document, path, "kubelet", node),
        kube_proxy=_range(document, path, "kube_proxy", node),
        mode=tuple(node.get("mode", ())),
        dsr=node.get("dsr"),
        driver=tuple(node.get("driver", ())),
        runtime=tuple(node.get("runtime", ())),
        runtime_version=_range(document, path, "runtime_version", node),
        host_process=node.get("host_process"),
        firewall=_settings("firewall", node),
        localhost_node_ports=_settings("localhost_node_ports", node),
        dns_suffixes=tuple(SuffixList(word) for word in node.get("dns_suffixes", ())),
        policies=_settings("policies", node),
        terminating_endpoints=_settings("terminating_endpoints", node),
    )


def _settings(key: str, data: Any) -> tuple[Setting, ...]:
    return tuple(Setting(word) for word in data.get(key, ()))


def _range(
    document: Document, path: tuple[str | int, ...], key: str, data: Any
) -> VersionRange | None:
    if key not in data:
        return None
    try:
        return VersionRange.parse(data[key], WindowsBuild if key == "build" else KubernetesVersion)
    except ValueError as error:
        raise document.error((*path, key), str(error)) from error
