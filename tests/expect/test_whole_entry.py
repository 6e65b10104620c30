"""An entry in which every key is written, and one in which none is that may be left out: what each becomes."""

from datetime import date

from nettests.expect import Limitation, read_manifest
from nettests.expect.manifest import Citation, Condition, Deviation, Layer, NodeCondition
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

HEAD = "apiVersion: nettests.dev/v1alpha1\nkind: LimitationManifest\nlayer: {layer}\nlimitations:\n"
WHOLE = """- id: whole
  summary: >-
    in
    short
  when:
    cluster:
      kubernetes: ">=1.20"
      platform: [aks]
      cni: [flannel, calico]
      backend: [vxlan]
      loopback_dsr: ["on", unknown]
    source:
      os: windows
      build: ">=17763.1"
      kubelet: ">=1.21"
      kube_proxy: ">=1.22"
      mode: [kernelspace]
      dsr: true
      driver: [overlay]
      runtime: [containerd]
      runtime_version: ">=1.7"
      host_process: false
      firewall: ["off"]
      localhost_node_ports: ["on"]
      dns_suffixes: [own, part]
    target: {os: linux}
    placement: [same-node, other-node]
    backend_placement: [other-node]
    nat_exception: [inside]
    resolver: [nslookup]
  flows: [some-flow, other-flow]
  protocols: [tcp, udp]
  families: [IPv6]
  cases: [one]
  expected: {outcome: [unreachable, timed_out], source: client-node, distribution: one-backend}
  mechanism: >-
    it is
    so
  category: environment
  sources:
    - {document: A page, section: A part, address: "https://example.test/", names: timed_out, picked: ["1.24.3"]}
    - {document: Another}
  overrides: [lower]
  cancels: [lowest]
  facts: [a-fact]
  reason: ours
  review_by: 2026-12-31
"""
BARE = """- id: bare
  summary: in short
  flows: [some-flow]
  expected: unspecified
  settled_by: >-
    a
    reading
  when_present: {outcome: refused}
  mechanism: so
  category: bug
  sources: [{document: A page}]
"""


def versions(text: str) -> VersionRange:
    """Return a range of versions of Kubernetes."""
    return VersionRange.parse(text, KubernetesVersion)


SOURCE = NodeCondition(
    os=OS.WINDOWS,
    build=VersionRange.parse(">=17763.1", WindowsBuild),
    kubelet=versions(">=1.21"),
    kube_proxy=versions(">=1.22"),
    mode=("kernelspace",),
    dsr=True,
    driver=("overlay",),
    runtime=("containerd",),
    runtime_version=versions(">=1.7"),
    host_process=False,
    firewall=(Setting.OFF,),
    localhost_node_ports=(Setting.ON,),
    dns_suffixes=(SuffixList.OWN, SuffixList.PART),
)
CONDITION = Condition(
    kubernetes=versions(">=1.20"),
    platform=("aks",),
    cni=("flannel", "calico"),
    backend=("vxlan",),
    loopback_dsr=(Setting.ON, Setting.UNKNOWN),
    source=SOURCE,
    target=NodeCondition(os=OS.LINUX),
    placement=(Placement.SAME_NODE, Placement.OTHER_NODE),
    backend_placement=(Placement.OTHER_NODE,),
    nat_exception=(NatException.INSIDE,),
    resolver=(Resolver.NSLOOKUP,),
)


def only(text: str, layer: str) -> Limitation:
    """Return the one entry of a manifest."""
    (entry,) = read_manifest(HEAD.format(layer=layer) + text, "mine.yaml").limitations
    return entry


def test_every_key_is_read() -> None:
    """Each into its own field, texts on one line, outcomes in one order whatever theirs in the text."""
    assert only(WHOLE, "site") == Limitation(
        id="whole",
        summary="in short",
        layer=Layer.SITE,
        condition=CONDITION,
        flows=("some-flow", "other-flow"),
        protocols=(Protocol.TCP, Protocol.UDP),
        families=(Family.IPV6,),
        cases=("one",),
        deviation=Deviation(
            outcome=Outcome.TIMED_OUT,
            alternatives=(Outcome.UNREACHABLE,),
            source_seen=SourceSeen.CLIENT_NODE,
            distribution=Distribution.ONE_BACKEND,
        ),
        mechanism="it is so",
        category=Category.ENVIRONMENT,
        citations=(
            Citation(
                source=Source(document="A page", section="A part", address="https://example.test/"),
                names=Outcome.TIMED_OUT,
                picked=(KubernetesVersion(1, 24, 3),),
            ),
            Citation(source=Source(document="Another")),
        ),
        overrides=("lower",),
        cancels=("lowest",),
        facts=("a-fact",),
        reason="ours",
        review_by=date(2026, 12, 31),
        file="mine.yaml",
        line=5,
    )


def test_what_is_left_out_demands_and_asserts_nothing() -> None:
    """An open entry of a lower layer: no condition, every protocol, family and case, no date."""
    assert only(BARE, "platform") == Limitation(
        id="bare",
        summary="in short",
        layer=Layer.PLATFORM,
        condition=Condition(),
        flows=("some-flow",),
        protocols=(),
        families=(),
        cases=(),
        deviation=None,
        mechanism="so",
        category=Category.BUG,
        citations=(Citation(source=Source(document="A page")),),
        settled_by="a reading",
        when_present=Deviation(outcome=Outcome.REFUSED),
        file="mine.yaml",
        line=5,
    )


def test_an_entry_that_only_cancels_is_not_open() -> None:
    """It expects nothing of its own: what it takes away was expected."""
    entry = only(BARE.replace("expected: unspecified", "cancels: [a]").partition("  settled_by")[0]
                 + BARE[BARE.index("  mechanism"):], "cni")  # fmt: skip
    assert (entry.only_cancels, entry.deviation, entry.is_open) == (True, None, False)
    assert (entry.cancels, entry.overrides, entry.settled_by) == (("a",), (), "")


def test_an_entry_says_where_it_stands() -> None:
    """The line is that of the entry, not of the file."""
    both = HEAD.format(layer="base") + BARE + BARE.replace("bare", "other")
    first, second = read_manifest(both, "mine.yaml").limitations
    assert (first.place, second.place) == ("mine.yaml:5", f"mine.yaml:{5 + BARE.count(chr(10))}")
    assert first.line == 5
