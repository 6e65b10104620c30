"""Turn observation and expectation into a verdict and a sentence that explains it. Pure.

The last stage that decides anything; ``stages`` names its own stages. Nothing here reads a clock,
opens a socket or parses output.
"""

from nettests.judge.members import judge_members
from nettests.judge.stages import judge, judge_run

__all__ = ["judge", "judge_members", "judge_run"]
