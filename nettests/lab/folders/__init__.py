"""Where running labs are noted: a private folder each, the processes they are, the socket they are told by.

``places`` says where the folders lie, ``private`` whose they are, ``processes`` which process is the one that
was noted, ``state`` joins the three, and ``control`` speaks by a folder's socket with the lab that runs.
"""
