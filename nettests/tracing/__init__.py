"""Where a packet is lost: what captures saw of one marked flow, and the first hop that is not as expected.

Values in, values out. ``printed`` reads what ``tcpdump`` and ``pktmon`` print, ``mark`` finds the frames of the flow
through translation and encapsulation, ``path`` puts them in the order of hops, ``findings`` names the first difference
from the path that facts lead to expect (``scene``). Frames are dissected by ``wire``; nothing here captures anything.
"""
