"""The sentences of conditions, contradictions and mistakes, word for word: people repair manifests by them."""

from dataclasses import replace
from datetime import date

import pytest

from nettests.errors import ManifestError
from nettests.expect import explain, lint, read_manifest, resolve
from nettests.expect.condition import Truth
from nettests.expect.lint import is_change
from nettests.expect.manifest import Citation
from nettests.model.check import Check
from nettests.model.expectation import Source
from nettests.model.facts import ClusterFacts, known, unknown
from nettests.model.words import Resolver
from tests.expect.entries import check, manifest, text
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
TIMED_OUT = "expected: {outcome: timed_out}"
REFUSED = "expected: {outcome: refused}"
YES, NO, OPEN = Truth.YES, Truth.NO, Truth.UNKNOWN


def findings(
    when: str, probed: Check | None = None, facts: ClusterFacts = FACTS
) -> tuple[tuple[Truth, str], ...]:
    """Return what is told of each part of a condition."""
    told = explain(probed or check(), facts, [manifest(one=f"{TIMED_OUT}\nwhen: {when}")])
    (one,) = told.considered
    return one.findings


def test_every_part_of_a_condition_is_told_with_its_fact_and_origin() -> None:
    """Cluster first, then the source's node, then the check, each in the words of the manifest."""
    cluster = "{kubernetes: '>=1.24', platform: [aks], cni: [flannel], backend: [host-gw, vxlan], loopback_dsr: ['on']}"
    assert findings(f"{{cluster: {cluster}}}") == (
        (YES, "Kubernetes in >=1.24: 1.24.17 (the API server)"),
        (NO, "platform in aks: other (test)"),
        (YES, "CNI plugin in flannel: flannel (test)"),
        (YES, "CNI backend in host-gw, vxlan: host-gw (test)"),
        (NO, "loopbackDSR: off (test), not on"),
    )
    source = (
        "{os: windows, build: '<20348', kubelet: '>=1.24', kube_proxy: '>=1.24', mode: [kernelspace], dsr: false, "
        "driver: [l2bridge], runtime: [containerd], runtime_version: '>=1.7', host_process: true, firewall: ['on'], "
        "localhost_node_ports: ['off', unknown], dns_suffixes: [own, unknown]}"
    )
    assert findings(f"{{source: {source}}}") == (
        (YES, "source runs windows"),
        (YES, "source build in <20348: 17763.1339 (nodeInfo.kernelVersion)"),
        (YES, "source kubelet in >=1.24: 1.24.17 (nodeInfo.kubeletVersion)"),
        (YES, "source kube-proxy in >=1.24: 1.24.17 (test)"),
        (YES, "source kube-proxy mode in kernelspace: kernelspace (test)"),
        (YES, "source DSR: off (kube-proxy's log)"),
        (YES, "source network driver in l2bridge: l2bridge (test)"),
        (YES, "source runtime in containerd: containerd (nodeInfo.containerRuntimeVersion)"),
        (YES, "source runtime's version in >=1.7: 1.7.20 (runtime containerd://1.7.20)"),
        (YES, "source HostProcess: on (test)"),
        (YES, "source firewall: on (test)"),
        (YES, "source NodePorts at loopback: unknown (it was not read)"),
        (YES, "source DNS suffixes: unknown (the API does not tell it)"),
    )
    of_check = "{placement: [same-node], backend_placement: [same-node], nat_exception: [inside], resolver: [system]}"
    assert findings(of_check) == (
        (NO, "placement other-node, not same-node"),
        (NO, "backend placement none, not same-node"),
        (NO, "target in OutBoundNAT's exceptions: unknown (test), not inside"),
        (NO, "resolver none, not system"),
    )
    assert findings("{resolver: [nslookup]}", check(resolver=Resolver.NSLOOKUP)) == (
        (YES, "resolver nslookup"),
    )


@pytest.mark.parametrize(
    ("value", "wanted", "truth"),
    [
        (True, "'on'", YES),
        (True, "'off', unknown", NO),
        (False, "'off'", YES),
        (False, "'on', unknown", NO),
        (None, "unknown", YES),
        (None, "'on', 'off'", NO),
    ],
)
def test_a_setting_may_be_requested_as_unknown(
    value: bool | None,
    wanted: str,
    truth: Truth,
) -> None:
    """What nobody could read is an answer of its own: such a condition is never undecided."""
    fact = unknown("nobody said") if value is None else known(value, "nobody said")
    facts = replace(FACTS, cni=replace(FACTS.cni, loopback_dsr=fact))
    word = {True: "on", False: "off", None: "unknown"}[value]
    others = wanted.replace("'", "").replace(", ", " or ")
    demanded = "" if truth is YES else f", not {others}"
    assert findings(f"{{cluster: {{loopback_dsr: [{wanted}]}}}}", facts=facts) == (
        (truth, f"loopbackDSR: {word} (nobody said){demanded}"),
    )


def test_a_fact_that_is_not_known_leaves_a_condition_open() -> None:
    """The sentence says which, and why nobody knows it."""
    facts = replace(FACTS, platform=unknown("no node has a provider id"))
    assert findings("{cluster: {platform: [aks]}}", facts=facts) == (
        (OPEN, "platform in aks: unknown (no node has a provider id)"),
    )


@pytest.mark.parametrize(
    ("source", "when", "sentence"),
    [
        ("linux-1", "{build: '<20348'}", "source runs linux, which has no such setting"),
        ("linux-1", "{driver: [overlay]}", "source runs linux, which has no such setting"),
        ("linux-1", "{firewall: ['on']}", "source runs linux, which has no such setting"),
        ("linux-1", "{dns_suffixes: [unknown]}", "source runs linux, which has no such setting"),
        ("linux-1", "{dsr: false}", "source runs linux, which has no such setting"),
        ("linux-1", "{host_process: false}", "source runs linux, which has no such setting"),
        (None, "{kubelet: '>=1.20'}", "the source is no node of this cluster"),
        (None, "{os: windows}", "source runs no system of this cluster"),
    ],
)
def test_who_has_no_such_setting_does_not_meet_a_condition(
    source: str | None, when: str, sentence: str
) -> None:
    """Linux has neither builds nor HNS, and whoever stands outside has no node."""
    assert findings(f"{{source: {when}}}", check(source)) == ((NO, sentence),)


def test_linux_has_the_settings_that_both_systems_have() -> None:
    """Versions, mode and runtime are required of it as well."""
    when = "{kubelet: '>=1.24', mode: [iptables, nftables, ipvs], runtime: [containerd]}"
    truths = {truth for truth, _ in findings(f"{{source: {when}}}", check("linux-1"))}
    assert truths == {YES}


def test_two_entries_that_contradict_each_other_are_named() -> None:
    """Both with their places and outcomes, and what to do."""
    with pytest.raises(ManifestError) as caught:
        resolve([check()], FACTS, [manifest(one=TIMED_OUT, two="expected: unspecified")])
    assert str(caught.value) == (
        "one (base.yaml:5) and two (base.yaml:13) both apply to some-flow/win-1/win-2/other-node/tcp and expect "
        "different outcomes: timed_out and unspecified\n"
        "  → narrow one condition, or let the higher layer say overrides: [id]"
    ).replace("base.yaml:13", manifest(one=TIMED_OUT, two=REFUSED).limitations[1].place)


def test_a_contradiction_is_found_behind_entries_that_agree() -> None:
    """The first and the one that differs are named, whatever stands between them, in the order of their ids."""
    entries = manifest(a="expected: unspecified", b="expected: unspecified", c=TIMED_OUT)
    with pytest.raises(ManifestError) as caught:
        resolve([check()], FACTS, [entries])
    first, _, last = entries.limitations
    assert caught.value.message == (
        f"a ({first.place}) and c ({last.place}) both apply to {check().id} and expect different outcomes: "
        "unspecified and timed_out"
    )


def test_the_targets_part_is_told_as_the_targets() -> None:
    """Each end by its name."""
    assert findings("{target: {os: windows, dsr: true}}") == (
        (YES, "target runs windows"),
        (NO, "target DSR: off (kube-proxy's log), not on"),
    )


def test_an_entry_past_its_date_is_named() -> None:
    """With the date, and what to do; also where nobody knows what day it is."""
    site = manifest("site", one=TIMED_OUT)
    place = site.limitations[0].place
    with pytest.raises(ManifestError) as caught:
        resolve([check()], FACTS, [site], today=date(2027, 1, 1))
    assert str(caught.value) == (
        f"{place}: one was to be reviewed by 2026-12-31\n"
        "  → check whether it still holds, then move the date or remove the entry"
    )
    with pytest.raises(ManifestError) as caught:
        resolve([check()], FACTS, [site])
    assert str(caught.value) == f"{place}: one has a review date, but today's is not known"
    assert resolve([check()], FACTS, [site], today=date(2026, 12, 31))


def test_what_keeps_a_check_undecided_is_told() -> None:
    """Each unknown part, of the first entry that could change the expectation."""
    facts = replace(
        FACTS, platform=unknown("no id"), cni=replace(FACTS.cni, plugin=unknown("no Pod"))
    )
    when = "when: {cluster: {platform: [aks], cni: [flannel]}}"
    found = resolve([check()], facts, [manifest(one=f"{TIMED_OUT}\n{when}")])[check().id]
    assert found.undecided == (
        "one depends on what is not known: platform in aks: unknown (no id); CNI plugin in flannel: unknown (no Pod)"
    )
    assert (found.expected, found.limitation, found.entries) == (None, None, ())


def test_entries_that_agree_are_told_beside_the_first() -> None:
    """The first decides, with its facts; the other is named as a reason."""
    both = manifest(one=f"{TIMED_OUT}\nwhen: {{source: {{os: windows}}}}", two=TIMED_OUT)
    found = resolve([check()], FACTS, [both])[check().id]
    assert found.limitation is not None
    entry, other = both.limitations
    assert found.limitation.because == (
        "source runs windows",
        f"two ({other.place}) expects the same",
    )
    assert (found.limitation.id, found.limitation.line, found.limitation.file) == (
        "one",
        entry.line,
        "base.yaml",
    )
    assert (found.limitation.layer, found.limitation.mechanism) == ("base", "it is so")
    assert (found.limitation.summary, found.limitation.sources) == ("in short", entry.sources)
    assert found.limitation.category is entry.category
    assert found.entries == ("one", "two")


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            [manifest(one=TIMED_OUT, two=REFUSED)],
            ["one (base.yaml:5) and two (base.yaml:12) can apply to the same check of some-flow and expect different outcomes"],
        ),
        (
            [manifest(one=TIMED_OUT), manifest("cni", one=TIMED_OUT)],
            ["limitation one is defined twice: base.yaml:5 and cni.yaml:5"],
        ),
        (
            [manifest("cni", two=f"{TIMED_OUT}\noverrides: [gone]")],
            ["cni.yaml:5: two names gone, unknown here"],
        ),
        (
            [manifest(one=TIMED_OUT, two=f"{TIMED_OUT}\noverrides: [one]")],
            ["base.yaml:12: two cannot override one (base.yaml:5): only a higher layer overrides a lower one"],
        ),
    ],
    ids=["overlap", "twice", "unknown", "same layer"],
)  # fmt: skip
def test_what_lint_finds_is_told(entries: list[object], told: list[str]) -> None:
    """Both places, and why it cannot be."""
    found = lint(entries)  # type: ignore[arg-type]
    places = [entry.place for one in entries for entry in one.limitations]  # type: ignore[attr-defined]
    second = next((place for place in places if not place.endswith(":5")), "")
    assert list(found) == [one.replace("base.yaml:12", second) for one in told]


def test_a_second_definition_says_how_to_override() -> None:
    """Whoever writes it again wants to change it."""
    with pytest.raises(ManifestError) as caught:
        resolve([], FACTS, [manifest(one=TIMED_OUT), manifest("cni", one=TIMED_OUT)])
    assert caught.value.hint == "a higher layer overrides with another id and overrides: [id]"


def test_what_an_open_entry_lacks_is_told() -> None:
    """A way out of an open one, none of a settled one, and how a bug shows where it is the reason."""

    def said(body: str, category: str = "platform", **kept: str) -> tuple[str, ...]:
        whole = text(one=body).replace("category: platform", f"category: {category}")
        return lint(
            [
                read_manifest(
                    whole.replace("settled_by: a test", kept.get("by", "settled_by: a test")),
                    "m.yaml",
                )
            ]
        )

    settled = "settled_by: a reading"
    assert said("expected: unspecified", by="facts: [a-fact]") == (
        (
            "m.yaml:5: one is unspecified and does not say what would settle it; "
            "write settled_by: a reading, a document or a test that would decide"
        ),
    )
    assert said(f"{TIMED_OUT}\n{settled}") == (
        "m.yaml:5: one has settled_by, and what it expects is settled; take it out",
    )
    assert said("expected: unspecified", "bug") == (
        (
            "m.yaml:5: one is unspecified because of a bug and does not say how the bug shows; "
            "write when_present: {outcome: ...}, or another category if no bug leaves it open"
        ),
    )
    assert said("expected: unspecified\nwhen_present: {outcome: [timed_out, refused]}") == (
        (
            "m.yaml:5: one has when_present, which belongs to entries that are unspecified and of category bug; "
            "this one is of category platform"
        ),
    )
    assert said("expected: unspecified\nwhen_present: {outcome: [timed_out, refused]}", "bug") == ()


@pytest.mark.parametrize(
    ("document", "section", "change"),
    [
        ("kubernetes/kubernetes pull request 113776", "", True),
        ("kubernetes/kubernetes issue 1", "", False),
        ("Kubernetes CHANGELOG-1.30", "Bug or Regression (#132647)", True),
        ("Kubernetes CHANGELOG-1.30", "", False),
        ("Another project pull request 113776", "", False),
        ("A page", "#132647", False),
    ],
)
def test_which_source_is_a_merged_change(document: str, section: str, *, change: bool) -> None:
    """One of Kubernetes' own, by its number or by its line in the change log."""
    assert is_change(Citation(source=Source(document=document, section=section))) is change


def test_a_bound_of_a_build_is_no_patch_release() -> None:
    """An entry may be bounded by both; only the one of Kubernetes ends where a change was picked to."""
    body = "expected: unspecified\nwhen: {source: {kube_proxy: '<1.24.10 || >=1.25', build: '<20348.10'}}"
    change = "kubernetes/kubernetes pull request 114407"
    for picked, count in (("1.24.10", 0), ("1.24.11", 1), ("1.23.10", 1)):
        source = f'document: {change}, picked: ["{picked}"]'
        told = lint([read_manifest(text(one=body).replace("document: A page", source), "m.yaml")])
        assert len(told) == count, picked


@pytest.mark.parametrize(
    ("suffixes", "kind", "listed"),
    [
        (("svc.cluster.local", "cluster.local"), "whole", " (svc.cluster.local, cluster.local)"),
        (("cluster.local",), "part", " (cluster.local)"),
        (("corp.example",), "own", " (corp.example)"),
        ((), "own", ""),
    ],
)
def test_suffixes_are_told_by_what_they_make_whole(
    suffixes: tuple[str, ...], kind: str, listed: str
) -> None:
    """With the list itself, who told it, and what else was demanded."""
    nodes = tuple(replace(one, dns_suffixes=known(suffixes, "a Pod")) for one in FACTS.nodes)
    facts = replace(FACTS, nodes=nodes)
    for word in ("whole", "part", "own", "unknown"):
        told = f"source DNS suffixes: {kind}{listed} (a Pod)"
        assert findings(f"{{source: {{dns_suffixes: [{word}]}}}}", facts=facts) == (
            (YES, told) if word == kind else (NO, f"{told}, not {word}"),
        )
