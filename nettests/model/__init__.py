"""The vocabulary: frozen values that every stage shares.

``words`` holds the closed word lists, ``versions`` comparable versions, ``facts`` the facts of a
cluster, ``check`` the checks of a run, ``observation`` what happened, ``expectation`` what should
happen, ``verdict`` the judgement, ``codec`` their JSON, ``journal_records`` the records of a run,
``codec`` their lines, ``history`` one run's records combined. Nothing here reads a clock,
opens a file or knows pytest.
"""
