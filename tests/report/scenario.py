"""A whole run's journal records without a cluster: the shipped suites, planned and answered.

The plan is the real one; what the cluster would have answered is written by ``answers``, along a few
documented limitations of Windows Server 2019, and the verdicts belong to the story: reports are
tested here, not judgement. Stories put some checks out of order, so that every verdict occurs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from nettests.model.check import Action, Check, Plan
from nettests.model.expectation import AppliedLimitation, Expectation, Expected, Source
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import (
    Answer,
    Begin,
    Convergence,
    Discovered,
    Done,
    End,
    Judged,
    ManifestFile,
    Planned,
    Record,
    Skipped,
)
from nettests.model.observation import Raw
from nettests.model.verdict import Judgement
from nettests.model.words import (
    OS,
    Category,
    Distribution,
    Outcome,
    Protocol,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
    Verdict,
)
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import alone
from tests.report.answers import Ending, context_of, raws
from tests.report.cluster import FACTS

RUN_ID = "20261121-1404-k7m2"
HAIRPIN = "pod-to-service-clusterip/windows-1/windows-1/same-node/udp"


def limitation(
    *, limitation_id: str, summary: str, mechanism: str, category: Category, because: str, url: str
) -> AppliedLimitation:
    """Return a limitation as the manifests describe it."""
    return AppliedLimitation(
        id=limitation_id,
        summary=summary,
        layer="base",
        category=category,
        mechanism=mechanism,
        sources=(
            Source(
                document="Kubernetes documentation, Networking on Windows",
                section="Limitations",
                address=url,
            ),
        ),
        because=(because, "the source runs Windows (label kubernetes.io/os of windows-node-1)"),
        file="manifests/limitations/base.yaml",
        line=14 + len(summary),
    )


DOCUMENTS = "https://kubernetes.io/docs/concepts/services-networking/windows-networking/"
NODE_TO_SERVICE = limitation(
    limitation_id="win-node-to-clusterip",
    summary="Windows nodes do not reach Services by ClusterIP",
    mechanism="No HNS load balancer rule sits on the host's own switch port, so the packet leaves untranslated.",
    category=Category.PLATFORM,
    because="kube-proxy runs without DSR (kube-proxy's log: --enable-dsr=false)",
    url=DOCUMENTS,
)
LOCAL_NODEPORT = limitation(
    limitation_id="win-local-nodeport",
    summary="A Windows node does not reach NodePorts at its own address",
    mechanism="The node's own traffic to itself does not pass the switch that holds the NodePort rule.",
    category=Category.PLATFORM,
    because="the node's build is 17763.1339, below 20348",
    url=DOCUMENTS,
)
ICMP_EGRESS = limitation(
    limitation_id="win-icmp-egress",
    summary="Outbound ICMP of Windows pods gets no answer",
    mechanism="OutBoundNAT translates TCP and UDP only: an echo request leaves with the pod's address.",
    category=Category.BY_DESIGN,
    because="the driver of windows-node-1 is l2bridge (ConfigMap kube-flannel/kube-flannel-windows-cfg)",
    url=DOCUMENTS,
)
DOTTED_NAME = limitation(
    limitation_id="win-dns-dotted-name",
    summary="Windows resolves a name with a dot as it stands, without the search list",
    mechanism="The resolver of Windows takes every name that contains a dot for fully qualified.",
    category=Category.BY_DESIGN,
    because="the source pod uses Windows' own resolver",
    url="",
)
SOURCE_REWRITTEN = limitation(
    limitation_id="win-source-nat",
    summary="Without DSR, backends see the node instead of the client pod",
    mechanism="The load balancer rule rewrites the source address so that answers pass the switch again.",
    category=Category.BY_DESIGN,
    because="kube-proxy runs without DSR (kube-proxy's log: --enable-dsr=false)",
    url=DOCUMENTS,
)
AFFINITY_IGNORED = limitation(
    limitation_id="win2019-session-affinity",
    summary="Windows Server 2019 ignores sessionAffinity: ClientIP",
    mechanism="HNS distributes by 5-tuple; the flag for 3-tuple hashing came with build 20348.",
    category=Category.PLATFORM,
    because="the source's build is 17763.1339, below 20348",
    url=DOCUMENTS,
)


HAIRPIN_BUG = limitation(
    limitation_id="dsr-hairpin-bug",
    summary="With DSR a Pod may not reach itself through its Service",
    mechanism="The answer is not translated back on the source's own port.",
    category=Category.BUG,
    because="kube-proxy runs with DSR (kube-proxy's log: --enable-dsr=true)",
    url=DOCUMENTS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is out of order in a run; by default nothing.

    Each predicate tells the checks that it befalls.
    """

    failing: Callable[[Check], bool] = lambda check: False
    lifted: Callable[[Check], bool] = lambda check: False
    flaky: Callable[[Check], bool] = lambda check: False
    broken_channel: Callable[[Check], bool] = lambda check: False
    left_open: Callable[[Check], bool] = lambda check: False
    known_bug: Callable[[Check], bool] = lambda check: False
    never_judged: Callable[[Check], bool] = lambda check: False
    facts: ClusterFacts = field(default=FACTS)


QUIET = Story()


def eventful() -> Story:
    """Return a story in which every verdict occurs."""
    return Story(
        failing=lambda c: c.id == "pod-to-service-fqdn/linux-1/windows-1/other-node/tcp",
        lifted=lambda c: c.id == "icmp-egress/windows-1/external/outside/icmp",
        flaky=lambda c: c.id == "pod-to-external-ip/windows-1/external/outside/udp",
        broken_channel=lambda c: c.id == "node-to-pod/windows-1/linux-1/other-node/udp",
        left_open=lambda c: c.flow == "dsr-source-address" and c.id.endswith("same-node/udp"),
        known_bug=lambda c: c.id == HAIRPIN,
        never_judged=lambda c: c.id == "session-affinity/linux-1/linux-1/other-node/udp",
    )


def plan(facts: ClusterFacts = FACTS) -> Plan:
    """Return the real plan of the shipped suites on these facts."""
    # Many members have stories of their own (``sweep``): they are answered one by one.
    return alone(build(facts, load([suites_path()]).flows))


def records(story: Story = QUIET) -> Iterator[Record]:
    """Yield the journal records of a whole run."""
    due = plan(story.facts)
    yield _begin(story)
    yield Discovered(facts=story.facts)
    expected = {check.id: _expectation(check, story) for check in due.checks}
    for check in due.checks:
        yield Planned(check=check, expectation=expected[check.id])
    for skip in due.skips:
        yield Skipped(skip=skip)
    for service in sorted({c.target.service for c in due.checks if c.target.service}):
        yield _converged(service)
    for number, check in enumerate(due.checks):
        yield from _one(check, expected[check.id], story, at=2.0 + number * 0.1)
    yield End(finished="2026-11-21T14:05:00.400000+00:00", exit_code=0)


def _begin(story: Story) -> Record:
    return Begin(
        run_id=RUN_ID,
        started="2026-11-21T14:04:12.200000+00:00",
        nettests="0.1.0",
        context=story.facts.context,
        server="https://127.0.0.1:6443",
        cluster_profile="cluster-profile.yaml",
        argv=("nettests", "run", "--cluster-profile=cluster-profile.yaml"),
        suites=("suites",),
        manifests=(ManifestFile(file="manifests/limitations/base.yaml", sha256="3f" * 32),),
    )


def _converged(service: str) -> Record:
    seconds = round(0.3 + len(service) / 50, 3)
    return Convergence(service=service, probe="probe-linux-1-1", seconds=seconds, converged=True)


def _one(check: Check, expectation: Expectation, story: Story, *, at: float) -> Iterator[Record]:
    for answer in _answers(check, expectation, story, at):
        yield Answer(raw=answer)
    yield Done(check=check.id)
    if not story.never_judged(check):
        yield Judged(judgement=_judgement(check, expectation, story))


def _verdict(check: Check, expectation: Expectation, story: Story) -> Verdict:
    for befalls, verdict in (
        (story.broken_channel, Verdict.UNKNOWN),
        (story.failing, Verdict.FAIL),
        (story.flaky, Verdict.FLAKY),
        (story.lifted, Verdict.LIFTED),
        (story.left_open, Verdict.RECORDED),
        (story.known_bug, Verdict.KNOWN_BUG),
    ):
        if befalls(check):
            return verdict
    return Verdict.LIMITED if expectation.limitation else Verdict.PASS


def _judgement(check: Check, expectation: Expectation, story: Story) -> Judgement:
    verdict = _verdict(check, expectation, story)
    limitation_id = expectation.limitation.id if expectation.limitation else None
    expected = str(expectation.expected or "unspecified")
    observed = str(_ending(check, expectation, story).outcome.value)
    if verdict in {Verdict.PASS, Verdict.LIMITED}:
        observed = expected
    steps = {
        Verdict.FAIL: "check that the target listens and that its EndpointSlice is current",
        Verdict.UNKNOWN: "see why exec on windows-node-1 lost its exit code, then run again",
        Verdict.LIFTED: "if it stays, update manifests/limitations/base.yaml:51",
        Verdict.FLAKY: "compare the attempts in the evidence; run the check again by its id",
    }
    return Judgement(
        check=check.id,
        verdict=verdict,
        message=f"{check.title}: expected {expected}, observed {observed}",
        expected=expected,
        observed=observed,
        limitation=limitation_id,
        next_step=steps.get(verdict, ""),
    )


def _answers(check: Check, expectation: Expectation, story: Story, at: float) -> Iterator[Raw]:
    ending = _ending(check, expectation, story)
    probed = raws(check.id, "check", check.action, ending, at=at)
    if story.broken_channel(check):
        lost = "exec ended without an exit code: the connection was closed"
        probed = [replace(raw, error=lost, exit_code=None) for raw in probed]
    if story.flaky(check):
        late = replace(ending, outcome=Outcome.TIMED_OUT)
        again = raws(check.id, "check", check.action, late, at=at + 1)
        probed += [replace(raw, attempt=2) for raw in again]
    if check.source.kind is VantageKind.NODE:
        proof = replace(check.action, protocol=Protocol.TCP)
        yield from raws(check.id, "origin", proof, _works(proof), at=at)
    yield from probed
    if not ending.outcome.positive or check.action.question is Question.DISTRIBUTE:
        for control in check.controls:
            works = replace(
                _works(control.action), backends=("server-linux-1-1", "server-linux-1-2")
            )
            purpose = f"control:{control.proves}"
            yield from raws(check.id, purpose, control.action, works, at=at + 0.2)


def _works(action: Action) -> Ending:
    if action.question is Question.RESOLVE:
        return Ending(outcome=Outcome.RESOLVED)
    context = context_of(action)
    node = action.source.kind is VantageKind.NODE
    seen = context["client-node"] if node else context["client-pod"]
    works = Outcome.CONNECTED if action.protocol is Protocol.TCP else Outcome.REPLIED
    return Ending(outcome=works, seen=seen)


def _ending(check: Check, expectation: Expectation, story: Story) -> Ending:
    works = _works(check.action)
    if check.action.question is Question.DISTRIBUTE:
        spread = expectation.limitation is not None and not story.lifted(check)
        names = check.target.backends if spread else check.target.backends[:1]
        return replace(works, backends=names)
    if story.failing(check):
        return replace(works, outcome=Outcome.REFUSED)
    if story.known_bug(check):
        return replace(works, outcome=Outcome.TIMED_OUT)
    if story.lifted(check) or expectation.expected is None:
        return works
    if expectation.limitation is SOURCE_REWRITTEN:
        return replace(works, seen="172.30.0.21")
    return replace(works, outcome=expectation.expected.outcome)


def _expectation(check: Check, story: Story) -> Expectation:
    if story.known_bug(check):
        return Expectation(claim=check.claim, expected=None, limitation=HAIRPIN_BUG)
    found = None if check.source.os is not OS.WINDOWS else _limitation(check)
    if found is None:
        return Expectation(claim=check.claim, expected=check.claim)
    applied, expected = found
    return Expectation(
        claim=check.claim,
        expected=None if story.left_open(check) else expected,
        limitation=applied,
    )


def _limitation(check: Check) -> tuple[AppliedLimitation, Expected] | None:
    silent = replace(check.claim, outcome=Outcome.TIMED_OUT)
    missing = replace(check.claim, outcome=Outcome.NXDOMAIN)
    if check.flow == "node-to-service-clusterip":
        return NODE_TO_SERVICE, silent
    if check.flow == "nodeport-from-local-node":
        return LOCAL_NODEPORT, silent
    if check.flow == "icmp-egress":
        return ICMP_EGRESS, silent
    if check.target.kind is TargetKind.SERVICE_PARTIAL_NAME:
        return DOTTED_NAME, missing
    return _altered(check)


def _altered(check: Check) -> tuple[AppliedLimitation, Expected] | None:
    """Return a limitation of checks that work, but not as on Linux."""
    if check.claim.distribution is not None:
        spread = replace(check.claim, distribution=Distribution.SEVERAL_BACKENDS)
        return AFFINITY_IGNORED, spread
    if check.claim.source_seen is not None:
        return SOURCE_REWRITTEN, replace(check.claim, source_seen=SourceSeen.CLIENT_NODE)
    return None
