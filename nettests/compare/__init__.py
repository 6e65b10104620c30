"""Compare two runs: two ``results.json`` documents → a ``Difference`` → text for people.

Above ``report``, whose documents it reads. ``reading`` turns a document into a ``recorded`` run;
``difference`` joins two by check ids and nodes; ``changes`` looks for changed facts that explain
each change; ``difference_text`` words it, and ``sections`` renders it. Nothing here opens a file,
reads a clock or judges a check.
"""
