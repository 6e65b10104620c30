"""``nettests lab selftest``: does the harness notice what is broken, and does it say what?

Labs are broken by named faults, one after the other, and a whole run is made of each. ``declared`` is the
vocabulary: a fault, how it is put in force, which checks must turn red and which may. ``named_faults`` joins the
tables of named faults. ``runs`` reads what a run says, ``judging`` compares it with what was declared, and
``matrix`` joins everything; they are pure. ``running`` acts, ``store`` remembers, ``shown``, ``page`` and
``reference`` say it.

The harness is met by its command line and its published ``results.json`` alone (decision 0035).
"""
