"""``nettests forecast [RUN] --to KEY=VALUE …``: what an upgrade is expected to change, and why.

Arguments and output only. Facts come from a finished run's document or from the cluster; ``forecast`` decides.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.completion import runs
from nettests.cli.discover_commands import read_facts
from nettests.cli.help import Command
from nettests.cli.options import (
    CHECKS,
    CLUSTER,
    CommonOptions,
    cluster_options,
    own_options,
    report_dir_option,
)
from nettests.cli.output_options import output_option
from nettests.cli.section_lines import tell
from nettests.cluster.profile_file import read_profile
from nettests.compare.fact_changes import options_of
from nettests.compare.sections import render_markdown
from nettests.forecast.expected_run import Planned, at_any_patch, deciding_patches
from nettests.forecast.facts_after import changed, other_manifests
from nettests.forecast.facts_after import notes as notes_on
from nettests.forecast.forecast import Forecast
from nettests.forecast.forecast import forecast as forecast_of
from nettests.forecast.forecast_text import document, overview
from nettests.forecast.keys import Change, left_alone, read_change, stated_changes
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan import Flow, read_classes
from nettests.plan.flow import ENABLE
from nettests.session.blueprint import Blueprint, Read, blueprint, read_manifests
from nettests.session.prepare import profile_of
from nettests.session.recorded_runs import started_run


@click.command(
    cls=Command, example="nettests forecast latest --to kubernetes=1.34 --to kubeProxy.dsr=true"
)
@click.argument("run", required=False, shell_complete=runs)
@cluster_options(CLUSTER, CHECKS)
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@own_options("forecast")
@output_option("What is printed; `nettests diff --forecast` reads json.")
def forecast(
    *,
    run: str | None,
    common: CommonOptions,
    report_dir: Path,
    to: tuple[str, ...],
    to_profile: Path | None,
    output: str,
    quiet: bool,
) -> None:
    """Show what an upgrade is expected to change.

    RUN is a finished run: a folder, its results.json, or latest; without it the cluster itself is read. The limitation
    manifests are resolved on the current facts and on the facts after --to. The forecast lists limitations that appear
    or no longer hold, checks that are added or dropped, and whatever cannot be forecast.

    Keys are those of the cluster profile's facts and of conditions in manifests: kubernetes, windows.build, cni.backend …
    """
    notes: list[str] = []
    changes = _changes(to, to_profile, notes)
    read = read_manifests(common.options.manifests)
    cluster = _current_cluster(run, common, report_dir, read)
    predicted = _forecast(cluster, changes, read, notes)
    if output == "json":
        terminal.document(document(predicted))
    elif output == "markdown":
        terminal.block(render_markdown(overview(predicted)))
    else:
        tell(overview(predicted), "--output json has all", quiet=quiet)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentCluster:
    """A cluster before the upgrade: its name, its facts, and the flows that a run on it tests."""

    name: str
    facts: ClusterFacts
    flows: Sequence[Flow]
    enabled: Collection[CheckClass]
    notes: tuple[str, ...] = ()

    def planned(self, facts: ClusterFacts, read: Read) -> Planned:
        """Return what a run on these facts would test, and what is expected of it."""
        planned: Blueprint = blueprint(facts, self.flows, read, self.enabled)
        return Planned(facts=facts, plan=planned.plan, expectations=planned.expectations)


def _changes(to: Sequence[str], profile: Path | None, notes: list[str]) -> tuple[Change, ...]:
    """Read the changes; the command line takes precedence over the profile."""
    written = [read_change(word) for word in to]
    by_subject = {change.key.subject: change for change in written}
    if len(by_subject) < len(written):
        subjects = Counter(change.key.subject for change in written)
        twice = [str(change) for change in written if subjects[change.key.subject] > 1]
        raise click.UsageError(f"--to states one fact more than once: {', '.join(twice)}")
    if profile is not None:
        stated = read_profile(profile, option="--to-profile").facts
        by_subject = {
            stated_change.key.subject: stated_change for stated_change in stated_changes(stated)
        } | by_subject
        if left := left_alone(stated):
            notes.append(
                f"not read of {profile}, as no limitation depends on it: {', '.join(left)}"
            )
    if not by_subject:
        raise click.UsageError("say what changes: --to KEY=VALUE, or --to-profile FILE")
    return tuple(by_subject.values())


def _current_cluster(
    run: str | None, common: CommonOptions, reports: Path, read: Read
) -> CurrentCluster:
    flows = common.registry().flows
    options = common.options
    if run is None:
        with common.cluster() as contacted:
            facts = read_facts(contacted, profile_of(contacted))
        return CurrentCluster(name=facts.context, facts=facts, flows=flows, enabled=options.enabled)
    of_cluster = (options.kubeconfig, options.context, options.cluster_profile, common.lab)
    if any(option is not None for option in (*of_cluster, options.namespace, options.nodes)):
        raise click.UsageError("a run has facts of its own: leave RUN out to read a cluster")
    recorded, facts = started_run(run, reports)
    tested = {check.flow for check in recorded.checks}
    notes = other_manifests(
        recorded.run.manifests, read[1], of=f"run {recorded.run.run_id}", by="this forecast"
    )
    return CurrentCluster(
        name=recorded.run.run_id,
        facts=facts,
        flows=[flow for flow in flows if common.flows or flow.name in tested],
        enabled=options.enabled or _enabled(recorded.run.argv),
        notes=(*notes, *([] if common.flows else _unread_flows(tested, flows))),
    )


def _unread_flows(tested: Collection[str], flows: Sequence[Flow]) -> Iterator[str]:
    """Yield flows of the run that no suite here declares: a vendor's, or those of another version."""
    unread = sorted({*tested} - {flow.name for flow in flows})
    if unread:
        yield f"flows of the run that no suite here declares are left out (--suites): {', '.join(unread)}"


def _enabled(argv: Sequence[str]) -> frozenset[CheckClass]:
    given = (option.partition("=") for option in options_of(argv))
    return read_classes(value for name, _, value in given if name == ENABLE)


def _forecast(
    cluster: CurrentCluster, changes: Sequence[Change], read: Read, notes: Sequence[str]
) -> Forecast:
    facts = changed(cluster.facts, changes)
    after = cluster.planned(facts, read)
    patches = deciding_patches(read[0], changes)
    at_each = [changed(cluster.facts, changes, patch=patch) for patch in patches]
    others = [cluster.planned(patched, read).expectations for patched in at_each]
    after = at_any_patch(after, others, changes)
    return forecast_of(
        cluster.planned(cluster.facts, read),
        after,
        changes,
        read[0],
        of=cluster.name,
        notes=(*notes, *cluster.notes, *notes_on(cluster.facts, facts, changes, read[0])),
        digests=read[1],
    )
