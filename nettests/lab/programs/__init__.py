"""The programs of the lab's containers, run inside this process on sockets of the container's namespace.

``images.run`` is ``interfaces.RunProgram``, and runs the programs of each image; no host program is ever
started and no host file is ever read. ``LIMITS.txt`` lists where the emulation is not faithful.
"""
