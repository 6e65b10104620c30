"""Where a packet is lost: what captures saw of one marked flow, and the first unexpected hop.

Values in, values out. ``printed`` reads the output of ``tcpdump`` and ``pktmon``, ``mark`` finds
the flow's frames through translation and encapsulation, ``path`` orders them by hops,
``differences`` finds the first difference from the path that facts lead to expect
(``packet.Scene``). Frames are dissected by ``wire``; nothing here captures anything.
"""
