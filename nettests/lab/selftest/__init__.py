"""``nettests lab selftest``: does the harness detect faults, and does it name the cause?

Named faults are injected into labs, one after the other, with a whole run for each. ``named_faults`` declares
them: how each is injected, which checks must turn red and which may; ``combining`` combines them. ``runs`` reads
a run's results, ``judging`` compares them with the declaration, and ``matrix`` joins everything; they are pure.
``selftest`` decides what runs next and stores runs, ``running`` has the side effects, ``reference`` and
``command`` present the matrix.

The harness is used only through its command line and its published ``results.json`` (decision 0035).
"""
