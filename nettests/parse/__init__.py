"""Raw answers → observations. Pure.

After observation, before judgement. ``taxonomy`` is the one table of error texts, per operating system of the client;
each tool has its module with sample text beside each pattern; ``read`` chooses among them, ``sources`` says whose
address a server saw, ``observe`` merges a check's answers and decides whether they can be trusted; ``observation_of``
is the entry point for a finished check. Nothing here knows what was expected.
"""

from nettests.parse.observe import observation_of, observe
from nettests.parse.read import read_raw

__all__ = ["observation_of", "observe", "read_raw"]
