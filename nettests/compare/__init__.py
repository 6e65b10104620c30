"""Compare two runs: two ``results.json`` documents → a ``Difference`` → text for people.

Above ``report``, whose documents it reads. ``reading`` makes a ledger (``recorded``) of a document; ``difference`` joins
two by check ids and nodes; ``changes`` says of each change whether a fact that the expectation depends on changed too;
``difference_text`` puts it into words, and ``sections`` renders them. Nothing here opens a file, reads a clock or judges
a check.
"""
