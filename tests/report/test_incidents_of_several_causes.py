"""Incidents of several causes at once: each is named by its own place."""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.measured import estimate
from nettests.model.words import Protocol
from nettests.report import Results
from nettests.report.incidents.loss import lossy
from nettests.report.results import CheckResult
from tests.report.test_incidents import (
    LINUX,
    OTHER_LINUX,
    WIN,
    broken,
    crossed,
    holding,
    losing,
    on_path,
)


def test_a_loss_is_not_scoped_by_what_another_cause_silences(quiet: Results) -> None:
    """Where one node is cut off and a pair of others loses some packets, the loss names the pair."""

    def cut_off(check: Check) -> bool:
        return on_path(check) and any(WIN in pair and pair != (WIN, WIN) for pair in crossed(check))

    def of(one: CheckResult) -> CheckResult:
        pairs = crossed(one.check) if one.check else set()
        udp = one.check and one.check.action.protocol is Protocol.UDP
        return losing(one) if udp and pairs == {(LINUX, OTHER_LINUX)} else one

    results = broken(quiet, cut_off)
    incidents = holding(quiet, [of(one) for one in results.checks]).incidents
    (loss,) = [each.cause for each in incidents if "are lost now and then" in each.cause]
    assert {LINUX, OTHER_LINUX} <= {*loss.replace(":", "").split()}
    assert WIN not in loss


def test_a_path_that_loses_everything_loses_nothing_now_and_then(quiet: Results) -> None:
    """All of forty lost is a path that is cut: what explains that explains it, too."""
    result = next(each for each in quiet.checks if each.observation and each.check)
    assert result.observation
    for lost, some in ((40, False), (12, True), (0, False)):
        seen = replace(result.observation, loss=estimate(40, lost), attempts=())
        assert lossy(replace(result, observation=seen)) is some
