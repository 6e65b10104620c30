"""Observation × expectation → verdict, with the sentence that a person needs. Pure.

The last stage that decides. ``verdicts`` holds the rules, ``proof`` says when positive controls make a
negative result believable, ``message`` words it and ``advice`` says what to look at next. Nothing here
reads a clock, opens a socket or parses output.
"""

from nettests.judge.members import judge_members
from nettests.judge.verdicts import judge, judge_run

__all__ = ["judge", "judge_members", "judge_run"]
