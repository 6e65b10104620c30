"""The verdict of a check as a fixture, as a pytest outcome, and read back from xdist workers.

The fixture ``verdict`` waits for the check's ``done`` record in the journal, and returns its
verdict. pass → passed · limited → xfailed with the limitation's id · fail, lifted, flaky → failed ·
unknown → error in set-up, as a test cannot assert an untrusted observation · recorded → passed,
tagged · known-bug → xfailed · skipped → skipped. The finished report is translated, so
``--runxfail`` changes nothing.
"""

import json
from collections.abc import Generator
from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.model.check import Check
from nettests.model.codec import from_data, to_line
from nettests.model.journal_records import Done
from nettests.model.observation import unusable
from nettests.model.verdict import Judgement
from nettests.model.visible import as_line
from nettests.model.words import Verdict
from nettests.plugin.collect import CHECK, Collector
from nettests.plugin.pytest_options import COLLECTOR
from nettests.session.journal import PATIENCE

JUDGEMENT = pytest.StashKey[Judgement]()
PROPERTY = "nettests"
"""The user property that carries a judgement, as JSON, from worker to controller."""
_EXPECTED = frozenset({Verdict.LIMITED, Verdict.KNOWN_BUG})
"""Verdicts that are expected failures in pytest."""


class UntrustedError(Exception):
    """The observation cannot be trusted, so the test cannot begin."""


def remember(item: pytest.Item, judgement: Judgement) -> None:
    """Attach a judgement to its test, with properties that other reporters may show."""
    item.stash[JUDGEMENT] = judgement
    item.user_properties.append((PROPERTY, to_line(judgement)))
    item.user_properties.append(("verdict", judgement.verdict.value))
    if judgement.limitation:
        item.user_properties.append(("limitation", judgement.limitation))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Translate the finished report of a judged test."""
    report = yield
    judgement = item.stash.get(JUDGEMENT, None)
    if judgement is not None:
        translate(report, judgement)
    return report


def translate(report: pytest.TestReport, judgement: Judgement) -> None:
    """Set the outcome of ``report`` by its judgement."""
    if report.when == "setup" and report.failed:
        report.longrepr = explained(judgement)
    if report.when != "call":
        return
    if report.passed and judgement.verdict in _EXPECTED:
        report.outcome = "skipped"
        report.wasxfail = as_line(f"{judgement.limitation}: {judgement.message}")
    elif not judgement.accepted:
        report.outcome = "failed"  # even if the suite's test asserts nothing
        report.longrepr = explained(judgement)


def explained(judgement: Judgement) -> str:
    """Return a judgement in words: what, expected, observed, next step."""
    lines = [f"{judgement.verdict.value}: {judgement.message}"]
    lines.append(f"  expected  {judgement.expected}")
    lines.append(f"  observed  {judgement.observed}")
    if judgement.limitation:
        lines.append(f"  limitation  {judgement.limitation}")
    if judgement.next_step:
        lines.append(f"  → {judgement.next_step}")
    # pytest's own reporter prints it, too, unchanged.
    return "\n".join(map(as_line, lines))


def judged(report: pytest.TestReport, check: str) -> Judgement | None:
    """Return the final judgement in the report of a check's test, if this report ends it.

    A test that ended without a judgement is ``unknown`` if it failed, and ``skipped`` if skipped.
    """
    carried = next((text for key, text in report.user_properties if key == PROPERTY), None)
    judgement = from_data(json.loads(str(carried)), Judgement) if carried else None
    ended = report.when not in {"setup", "teardown"} or (
        report.when == "setup" and not report.passed
    )
    if not ended:
        return None
    if judgement is None:
        return _without_judgement(report, check)
    if report.failed and judgement.accepted:
        return replace(
            judgement,
            verdict=Verdict.FAIL,
            message=f"{check}: the suite's own assertion failed: {_last_line(report)}",
        )
    return judgement


def _without_judgement(report: pytest.TestReport, check: str) -> Judgement:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        return _blank(check, Verdict.SKIPPED, reason.removeprefix("Skipped: "), "")
    if report.passed:
        return _blank(
            check,
            Verdict.UNKNOWN,
            f"{check}: its test ended without requesting the verdict",
            "let the suite's test use the fixture verdict and assert verdict.accepted",
        )
    crashed = report.when not in {"setup", "call"}
    cause = "its worker ended" if crashed else "its test broke"
    message = f"{check}: {cause} before it was judged: {_last_line(report)}"
    return _blank(
        check, Verdict.UNKNOWN, message, "run again; if it repeats, report it with this text"
    )


def _blank(check: str, verdict: Verdict, message: str, next_step: str) -> Judgement:
    return Judgement(
        check=check,
        verdict=verdict,
        message=message,
        expected="",
        observed="nothing that was judged",
        next_step=next_step,
    )


def _last_line(report: pytest.TestReport) -> str:
    lines = [line for line in report.longreprtext.splitlines() if line.strip()]
    # pytest ends a traceback with the location, and marks the error itself with "E".
    marked = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return (marked or lines or ["no reason was given"])[0 if marked else -1]


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Check:
    """The check that this test asserts; every test of a flow gets one."""
    raise pytest.UsageError(
        f"{request.node.name} uses the fixture {CHECK!r} and declares no flow: "
        "decorate it with nettests.plan.flow"
    )


@pytest.fixture
def verdict(check: Check, request: pytest.FixtureRequest) -> Judgement:
    """The verdict of the check: its observation compared with what is documented."""
    collector: Collector = request.config.pluginmanager.getplugin(COLLECTOR)
    done = collector.follower.wait(check.id, timeout=PATIENCE)
    if done.skip:
        pytest.skip(as_line(done.skip))
    judgement = done.judgement or _unobserved(check, done, collector)
    remember(request.node, judgement)
    if judgement.verdict is Verdict.UNKNOWN:
        raise UntrustedError(as_line(judgement.message))
    return judgement


def _unobserved(check: Check, done: Done, collector: Collector) -> Judgement:
    """Return the verdict of a check without a judgement, as the observer ended or is silent."""
    seen = unusable(check.id, done.distrust or "nobody judged it")
    return judge(check, collector.blueprint.expectations[check.id], seen)
