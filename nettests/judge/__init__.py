"""Turn observation and expectation into a verdict and a sentence that explains it. Pure.

The last stage that decides anything; ``checks`` names its own stages. Nothing here reads a clock,
opens a socket or parses output.
"""

from nettests.judge.checks import judge, judge_members, judge_run

__all__ = ["judge", "judge_members", "judge_run"]
