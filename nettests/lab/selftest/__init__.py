"""``nettests lab selftest``: does the harness detect faults, and does it name the cause?

Named faults are injected into labs, one after the other, with a whole run for each. ``declared`` is the
vocabulary: a fault, how it is put in force, which checks must turn red and which may. ``named_faults`` joins the
tables of named faults. ``runs`` reads what a run says, ``judging`` compares it with what was declared, and
``matrix`` joins everything; they are pure. ``running`` acts, ``store`` saves runs, ``shown``, ``page`` and
``reference`` present the matrix.

The harness is used only through its command line and its published ``results.json`` (decision 0035).
"""
