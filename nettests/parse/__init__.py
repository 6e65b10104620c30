"""Turn raw answers into observations. Pure.

Runs after observation and before judgement, and knows nothing of what was expected. ``taxonomy`` is
the one table of error texts, per operating system of the client; each tool has a module with sample
text beside each pattern; ``read`` picks the parser, ``sources`` classifies the address a server
saw, ``observe`` merges a check's answers and decides whether they can be trusted.
``observation_of`` is the entry point.
"""

from nettests.parse.observe import observation_of, observe
from nettests.parse.read import read_raw

__all__ = ["observation_of", "observe", "read_raw"]
