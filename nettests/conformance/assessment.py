"""A run, judged again, and a vendor profile → ``ConformanceReport``: each claim's result. Pure.

Fourth step of ``conformance``. A level is as good as its worst feature, the report as its worst
level. Results outside the profile's supported scope, and an incomplete run, prove no claim: they
give ``partial`` at best.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nettests.conformance.conformance_report import (
    WORST_FIRST,
    ConformanceReport,
    Digests,
    FeatureReport,
    LevelReport,
    PoolRow,
    Result,
    ScopeRow,
    Tested,
    Unclaimed,
    UnsupportedFeature,
    Works,
)
from nettests.conformance.flow_evidence import Anonymous, Evidence, added, flow_evidence
from nettests.conformance.vendor_profile import BuildRange, Feature, Level, VendorProfile
from nettests.errors import NettestsError
from nettests.expect.condition import Truth
from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.grouping import grouped
from nettests.model.words import OS, Verdict
from nettests.report.results import Results, facts_digest
from nettests.report.summary import exercised_line

CLAIMED = (Level.CORE, Level.EXTENDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A finished run, judged again from its answers.

    ``results`` have today's verdicts, ``before`` those of the run itself; ``plan`` is what this
    version plans on its facts, ``own_entries`` are ids of the vendor's limitation entries,
    ``nettests`` is the judging version.
    """

    results: Results
    plan: Plan
    before: Mapping[str, Verdict]
    own_entries: frozenset[str]
    nettests: str


def assess(profile: VendorProfile, run: JudgedRun, digests: Digests) -> ConformanceReport:
    """Return the report; ``NettestsError`` for a run that could not start."""
    facts = run.results.facts
    if facts is None:
        raise NettestsError(
            f"run {run.results.run.run_id} has no facts of a cluster: it could not start",
            hint="see its events, and run again",
        )
    names = Anonymous.of(facts, run.results.run.server)
    evidence = Evidence.of(run.results, run.plan, run.own_entries, names)
    levels = {
        level: _level(level, features, evidence)
        for level in CLAIMED
        if (features := profile.of(level))
    }
    scope = scope_rows(profile, facts)
    inside = run.results.run.complete and all(row.holds is Truth.YES for row in scope)
    of_levels = [level.result for level in levels.values()]
    claimed = {flow for feature in profile.features for flow in feature.flows}
    flows = sorted({*evidence.results, *evidence.belonging} - claimed)
    unclaimed = [flow_evidence(flow, evidence) for flow in flows]
    return ConformanceReport(
        date=(run.results.run.finished or run.results.run.started)[:10],
        nettests=run.nettests,
        implementation=profile.implementation,
        result=worst([*of_levels, *([] if inside else [Result.PARTIAL])]),
        levels=levels,
        unsupported=tuple(
            _unsupported(feature, evidence) for feature in profile.of(Level.UNSUPPORTED)
        ),
        unclaimed=Unclaimed(
            flows=tuple(flows),
            statistics=added(flow.statistics for flow in unclaimed),
            failed=tuple(check for flow in unclaimed for check in flow.failed),
        ),
        scope=scope,
        not_covered=not_covered(profile, facts),
        tested=_tested(run, names),
        digests=digests,
        profile=profile.text,
    )


def _level(level: Level, features: Sequence[Feature], evidence: Evidence) -> LevelReport:
    reports = tuple(_feature(feature, evidence) for feature in features)
    return LevelReport(
        level=level,
        result=worst(report.result for report in reports),
        statistics=added(report.statistics for report in reports),
        features=reports,
    )


def worst(results: Iterable[Result]) -> Result:
    """Return the worst of some results, or ``partial`` if there is none."""
    return min(results, key=WORST_FIRST.index, default=Result.PARTIAL)


def _feature(feature: Feature, evidence: Evidence) -> FeatureReport:
    flows = [flow_evidence(flow, evidence) for flow in feature.flows]
    failed = tuple(check for flow in flows for check in flow.failed)
    missing = tuple(gap for flow in flows for gap in flow.missing)
    return FeatureReport(
        name=feature.name,
        level=feature.level,
        result=Result.FAILURE if failed else Result.PARTIAL if missing else Result.SUCCESS,
        statistics=added(flow.statistics for flow in flows),
        flows=feature.flows,
        summary=feature.summary,
        failed=failed,
        missing=missing,
        limitations=tuple(
            sorted({limitation for flow in flows for limitation in flow.limitations})
        ),
    )


def _unsupported(feature: Feature, evidence: Evidence) -> UnsupportedFeature:
    flows = [flow_evidence(flow, evidence) for flow in feature.flows]
    counted = added(flow.statistics for flow in flows)
    works = Works.NOT_SHOWN
    if counted.failed or counted.limited or counted.known_bugs:
        works = Works.DEVIATES  # limited checks deviate, too, as documented
    elif all(flow.statistics.passed and not flow.missing for flow in flows):
        works = Works.WORKS
    return UnsupportedFeature(
        name=feature.name,
        reason=feature.reason,
        works=works,
        statistics=counted,
        flows=feature.flows,
    )


def _tested(run: JudgedRun, names: Anonymous) -> Tested:
    results, info = run.results, run.results.run
    facts = results.facts
    assert facts is not None  # ``assess`` has refused the run otherwise
    now = {check.id: check.verdict for check in results.checks if check.ran}
    differing = [each for each, was in run.before.items() if now.get(each, was) is not was]
    return Tested(
        kubernetes=facts.server_git_version,
        plugin=facts.cni.plugin.value or UNKNOWN,
        backend=facts.cni.backend.value or UNKNOWN,
        pools=pool_rows(facts),
        facts_digest=facts_digest(facts),
        run_id=info.run_id,
        started=info.started,
        finished=info.finished,
        complete=info.complete,
        exercised=names.text(exercised_line(results).removeprefix("Exercised: ")),
        judged_otherwise=len(differing),
    )


UNKNOWN = "unknown"
_WORST = (Truth.NO, Truth.UNKNOWN, Truth.YES)


def scope_rows(profile: VendorProfile, facts: ClusterFacts) -> tuple[ScopeRow, ...]:
    """Return the supported scope part by part; without Windows nodes a cluster is outside."""
    supports, cni, nodes = profile.supports, facts.cni, _windows(facts)
    builds = [_build(supports.builds, node) for node in nodes]
    drivers = [_one_of(supports.drivers, node.cni_driver) for node in nodes]
    version = Truth.YES if supports.kubernetes.holds(facts.server_version) else Truth.NO
    rows: list[tuple[str, Sequence[str], Sequence[object], Sequence[Truth]]] = [
        ("plugin", (profile.plugin,), [cni.plugin.value], [_one_of((profile.plugin,), cni.plugin)]),
        ("Kubernetes", (str(supports.kubernetes),), [facts.server_git_version], [version]),
        ("Windows build", [build.text for build in supports.builds], [node.build.value for node in nodes], builds),
        ("driver", supports.drivers, [node.cni_driver.value for node in nodes], drivers),
        ("backend", supports.backends, [cni.backend.value], [_one_of(supports.backends, cni.backend)]),
    ]  # fmt: skip
    return tuple(
        ScopeRow(
            subject=subject,
            claimed=", ".join(claimed),
            found=_each(seen) or "no Windows node",
            holds=next(each for each in _WORST if each in (truths or [Truth.NO])),
        )
        for subject, claimed, seen, truths in rows
        if claimed
    )


def not_covered(profile: VendorProfile, facts: ClusterFacts) -> tuple[str, ...]:
    """Return what the profile supports and this cluster lacks: the report does not cover it."""
    supports, windows = profile.supports, _windows(facts)
    builds = [node.build.value for node in windows if node.build.value]
    drivers, backend = {node.cni_driver.value for node in windows}, facts.cni.backend.value
    return (
        *(f"Windows build {b.text}" for b in supports.builds if not any(map(b.holds, builds))),
        *(f"driver {driver}" for driver in supports.drivers if driver not in drivers),
        *(f"backend {supported}" for supported in supports.backends if supported != backend),
    )


def pool_rows(facts: ClusterFacts) -> tuple[PoolRow, ...]:
    """Return the node pools of a cluster by name, with their versions."""
    pools = grouped((node.pool, node) for node in facts.nodes)
    return tuple(_pool(name, pools[name]) for name in sorted(pools))


def _pool(name: str, nodes: list[NodeFacts]) -> PoolRow:
    windows = nodes[0].os is OS.WINDOWS
    return PoolRow(
        pool=name,
        os=nodes[0].os.words,
        nodes=len(nodes),
        build=_each(node.build.value for node in nodes) if windows else "",
        driver=_each(node.cni_driver.value for node in nodes) if windows else "",
        kubelet=_each(node.kubelet.value for node in nodes),
        runtime=_each(node.runtime.value for node in nodes),
        kube_proxy=_each(map(_kube_proxy, nodes)),
    )


def _kube_proxy(node: NodeFacts) -> str:
    proxy = node.kube_proxy
    words = [str(proxy.version.value or UNKNOWN), proxy.mode.value or "unknown mode"]
    if node.os is OS.WINDOWS:
        words.append({True: "DSR", False: "no DSR", None: "DSR unknown"}[proxy.dsr.value])
    return " ".join(words)


def _build(ranges: tuple[BuildRange, ...], node: NodeFacts) -> Truth:
    build = node.build.value
    if build is None:
        return Truth.UNKNOWN
    truths = [build_range.holds(build) for build_range in ranges]
    return Truth.YES if True in truths else Truth.UNKNOWN if None in truths else Truth.NO


def _one_of(wanted: tuple[str, ...], fact: Fact[str]) -> Truth:
    if fact.value is None:
        return Truth.UNKNOWN
    return Truth.YES if fact.value in wanted else Truth.NO


def _windows(facts: ClusterFacts) -> list[NodeFacts]:
    return [node for node in facts.nodes if node.os is OS.WINDOWS]


def _each(values: Iterable[object]) -> str:
    return ", ".join(sorted({str(value or UNKNOWN) for value in values}))
