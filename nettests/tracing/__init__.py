"""Where a packet dies: what captures saw of one marked flow, and which hop is the first that is not as expected.

Values in, values out. ``printed`` reads what ``tcpdump`` and ``pktmon`` print, ``mark`` finds the frames of the flow
through translation and encapsulation, ``path`` puts them in the order of hops, ``findings`` names the first difference
from the path that facts lead to expect (``scene``). Frames are dissected by ``wire``; nothing here captures anything.
"""
