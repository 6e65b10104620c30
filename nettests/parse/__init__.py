"""Raw answers → what happened, in the observation's own words. Pure.

After observation, before judgement. ``taxonomy`` is the one table of error texts, per operating
system of the client; each tool has its module with sample text beside each pattern; ``read`` chooses
among them, ``sources`` says whose address a server saw, and ``observe`` merges a check's answers and
decides whether they can be trusted; ``observation_of`` is the way in for a check that is done. Nothing
here knows what was expected.
"""

from nettests.parse.observe import observation_of, observe
from nettests.parse.read import read_raw

__all__ = ["observation_of", "observe", "read_raw"]
