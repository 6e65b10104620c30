"""What failing checks have in common: found where a trait stands out, silent where none does."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from nettests.model.check import Check
from nettests.model.words import Placement, Protocol, Question, TargetKind, VantageKind, Verdict
from nettests.report import Results, build_results, render_json
from nettests.report.html import render_html
from nettests.report.in_common import FEWEST, WRONG, in_common
from nettests.report.markdown import render_markdown
from nettests.report.results import CheckResult
from tests.report.scenario import Story, records
from tests.report.test_json import SCHEMA

Trait = Callable[[Check], bool]


def spoilt(results: Results, trait: Trait, verdict: Verdict = Verdict.FAIL) -> Results:
    """Return the results with every asked check of a trait gone wrong, and all others gone well."""

    def of(one: CheckResult) -> Verdict:
        if not one.ran or one.check is None:
            return one.verdict
        return verdict if trait(one.check) else Verdict.PASS

    return holding(results, [replace(one, verdict=of(one)) for one in results.checks])


def holding(results: Results, checks: Sequence[CheckResult]) -> Results:
    """Return the results with other checks, as they are built of them."""
    return replace(results, checks=tuple(checks), in_common=in_common(checks))


def asked(results: Results, trait: Trait) -> int:
    """Return how many of the checks that ran have a trait."""
    return sum(one.ran and one.check is not None and trait(one.check) for one in results.checks)


def dns(check: Check) -> bool:
    """Whether a check asks the cluster's DNS."""
    by_address = {TargetKind.DNS_SERVICE, TargetKind.DNS_POD}
    named = check.target.kind.by_name or check.target.kind in by_address
    return named or check.ask.question is Question.RESOLVE


def from_windows(check: Check) -> bool:
    """Whether a check starts at the Windows nodes' role."""
    return check.source.role == "windows-1"


def udp_elsewhere(check: Check) -> bool:
    """Whether a check sends UDP to another node."""
    return check.ask.protocol is Protocol.UDP and check.placement is Placement.OTHER_NODE


@pytest.mark.parametrize(
    ("trait", "named"),
    [
        (dns, "ask the cluster's DNS"),
        (from_windows, "start at windows-1"),
        (lambda check: check.source.kind is VantageKind.NODE, "start at a node itself"),
        (lambda check: check.target.kind is TargetKind.NODEPORT, "ask a NodePort"),
        (udp_elsewhere, "lead to another node and use UDP"),
    ],
)
@pytest.mark.parametrize("verdict", sorted(WRONG))
def test_a_trait_that_all_wrong_checks_share_is_named(
    quiet: Results, trait: Trait, named: str, verdict: Verdict
) -> None:
    """One broken thing is named with its counts, whichever way the checks went wrong."""
    found = spoilt(quiet, trait, verdict).in_common
    count = asked(quiet, trait)
    assert found is not None
    assert (found.trait, found.wrong, found.all_wrong, found.asked) == (named, *[count] * 3)
    assert str(found) == f"all {count} {named}; no check that does went well"


def test_what_went_well_in_spite_of_the_trait_is_counted(quiet: Results) -> None:
    """A trait may stand out although some that have it went well, and others went wrong without it."""
    wrong = [one.id for one in spoilt(quiet, dns).checks if one.verdict is Verdict.FAIL]
    well, other = (
        wrong[0],
        next(one.id for one in quiet.checks if one.ran and one.check and not dns(one.check)),
    )
    found = spoilt(
        quiet, lambda check: (dns(check) and check.id != well) or check.id == other
    ).in_common
    count = asked(quiet, dns)
    assert found is not None
    assert str(found) == (
        f"{count - 1} of {count} ask the cluster's DNS; only 1 that does went well"
    )


def test_where_nothing_went_wrong_nothing_is_said(quiet: Results) -> None:
    """A clean run, and one whose limitations were lifted, has nothing in common."""
    assert quiet.in_common is None
    assert spoilt(quiet, dns, Verdict.LIFTED).in_common is None


def test_few_checks_are_read_one_by_one(quiet: Results) -> None:
    """Below the bound a shared trait is chance."""
    some = [one.id for one in quiet.checks if one.ran and one.check and dns(one.check)]
    assert spoilt(quiet, lambda check: check.id in some[: FEWEST - 1]).in_common is None


def test_where_everything_went_wrong_no_trait_stands_out(quiet: Results) -> None:
    """What every check has tells nothing."""
    assert spoilt(quiet, lambda _: True).in_common is None


def test_scattered_failures_have_nothing_in_common(quiet: Results) -> None:
    """Every seventh check gone wrong, whatever it asks, names no trait."""
    scattered = {one.id for one in [one for one in quiet.checks if one.ran][::7]}
    assert len(scattered) >= FEWEST
    assert spoilt(quiet, lambda check: check.id in scattered).in_common is None


def test_a_node_that_is_called_as_a_role_is_counted_once(quiet: Results) -> None:
    """Counts stay counts of checks where a node's name is its role's."""

    def called(check: Check) -> Check:
        source = replace(check.ask.source, node=check.ask.source.role)
        return replace(check, ask=replace(check.ask, source=source))

    same = tuple(
        replace(one, check=called(one.check)) if one.check else one for one in quiet.checks
    )
    found = spoilt(replace(quiet, checks=same), from_windows).in_common
    assert found is not None
    assert found.wrong == found.all_wrong == asked(quiet, from_windows)


def test_the_documents_for_people_say_it(quiet: Results) -> None:
    """The page and the summary name it above the list of what needs attention."""
    broken = spoilt(quiet, dns)
    text = f"all {asked(quiet, dns)} ask the cluster"
    page, summary = render_html(broken), render_markdown(broken)
    assert page.index("Needs attention</h2>") < page.index(text) < page.index('class="alert ')
    assert summary.index("### Needs attention") < summary.index(f"In common: {text}")
    assert "In common" not in render_html(quiet) + render_markdown(quiet)


def test_the_document_for_machines_holds_it(quiet: Results) -> None:
    """``results.json`` has the trait with its counts where one stands out, and says nothing otherwise."""
    count = asked(quiet, dns)
    document = json.loads(render_json(spoilt(quiet, dns)))
    assert document["in_common"] == {
        "trait": "ask the cluster's DNS",
        "wrong": count,
        "all_wrong": count,
        "asked": count,
        "text": f"all {count} ask the cluster's DNS; no check that does went well",
    }
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) == []
    assert "in_common" not in json.loads(render_json(quiet))


def test_it_is_built_from_the_verdicts_of_the_journal() -> None:
    """A run whose checks of names went wrong has its trait as soon as it is built."""
    silent = build_results(records(Story(failing=dns)))
    assert silent.in_common is not None
    assert silent.in_common.trait == "ask the cluster's DNS"
