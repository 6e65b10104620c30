"""The vocabulary: frozen values that every stage shares.

Nothing here reads a clock, opens a file or knows pytest. ``words`` holds the closed word lists,
``versions`` the comparable versions, ``facts`` what is known of a cluster, ``check`` what is tested on
it, ``observation`` what was seen, ``expectation`` what should be seen, ``verdict`` the judgement, ``codec``
their JSON form, ``journal`` the records of a run (``journal_lines`` their lines) and ``history`` what they
say together.
"""
