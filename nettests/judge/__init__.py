"""Turn observation and expectation into a verdict and a sentence that explains it. Pure.

The last stage that decides anything. ``verdicts`` holds the rules, ``proof`` decides whether
positive controls make a negative result conclusive, ``message`` words the judgement, ``advice``
gives the next step. Nothing here reads a clock, opens a socket or parses output.
"""

from nettests.judge.members import judge_members
from nettests.judge.verdicts import judge, judge_run

__all__ = ["judge", "judge_members", "judge_run"]
