"""A run that may leave its cluster: the same answers and verdicts, under other names. Pure.

Below ``session``, which reads the run, compares verdicts and writes the bundle. ``records`` walks through a journal,
``texts`` takes a text apart, ``vocabulary`` says which words are the project's own, ``pseudonyms`` and ``addresses``
give everything else its other name, ``bundle`` is the file. Nothing here decides a verdict.

Rather too much than too little, as in ``redaction``: a word that is not known to be harmless is replaced.
"""
