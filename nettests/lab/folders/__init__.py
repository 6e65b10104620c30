"""Records of running labs: a private folder for each, its processes, its control socket.

``places`` finds the folders, ``private`` checks their owner, ``processes`` checks that a recorded process is still
the same, ``state`` joins the three, and ``control`` talks to the lab over its socket.
"""
