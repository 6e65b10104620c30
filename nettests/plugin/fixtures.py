"""The fixtures of suites: the check that a test asserts, and its verdict.

``verdict`` waits for the check's own observation in the journal, and judges it there and then, in
whatever process the test runs. An ``unknown`` verdict is an error of this fixture: the test, which
would assert something of an observation, cannot begin.
"""

import pytest

from nettests.judge import judge
from nettests.model.check import Check
from nettests.model.verdict import Judgement
from nettests.model.visible import as_line
from nettests.model.words import Verdict
from nettests.plugin.collect import CHECK, Collector
from nettests.plugin.options import COLLECTOR
from nettests.plugin.outcome import UntrustedError, remember
from nettests.session.observed import PATIENCE, observed


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
    finished = collector.follower.wait(check.id, timeout=PATIENCE)
    if finished.skip:
        pytest.skip(as_line(finished.skip))
    expectation = finished.expectation or collector.blueprint.expectations[check.id]
    judgement = judge(check, expectation, observed(check, finished))
    remember(request.node, judgement)
    if judgement.verdict is Verdict.UNKNOWN:
        raise UntrustedError(as_line(judgement.message))
    return judgement
