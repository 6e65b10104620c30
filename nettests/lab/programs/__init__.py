"""The programs of the lab's containers, run inside this process on sockets of the container's namespace.

``run`` is ``interfaces.RunProgram``. ``images`` has the programs of each image; no host program is ever
started and no host file is ever read. ``LIMITS.txt`` lists where the emulation is not faithful.
"""

from nettests.lab.programs.images import run

__all__ = ["run"]
