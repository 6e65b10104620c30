"""The fixtures of suites: the check that a test asserts, and its verdict.

``verdict`` waits until the journal says that the check is done, in whatever process the test runs, and takes
the verdict of the process that observed. An ``unknown`` verdict is an error of this fixture: the test, which
would assert something of an observation, cannot begin.
"""

import pytest

from nettests.judge import judge
from nettests.model.check import Check
from nettests.model.journal_records import Done
from nettests.model.observation import unusable
from nettests.model.verdict import Judgement
from nettests.model.visible import as_line
from nettests.model.words import Verdict
from nettests.plugin.collect import CHECK, Collector
from nettests.plugin.outcome import UntrustedError, remember
from nettests.plugin.pytest_options import COLLECTOR
from nettests.session.journal import PATIENCE


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Check:
    """The check that this test asserts; every test of a flow is given one."""
    raise pytest.UsageError(
        f"{request.node.name} uses the fixture {CHECK!r} and declares no flow: "
        "decorate it with nettests.plan.flow"
    )


@pytest.fixture
def verdict(check: Check, request: pytest.FixtureRequest) -> Judgement:
    """The verdict of the check: what was observed against what is documented."""
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
    """Return the verdict of a check that nobody judged, because who observes ended first or says nothing."""
    seen = unusable(check.id, done.distrust or "nobody judged it")
    return judge(check, collector.blueprint.expectations[check.id], seen)
