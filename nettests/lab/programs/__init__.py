"""The programs of the lab's containers, run inside this process on sockets of the container's namespace.

``run`` is ``interfaces.RunProgram``. ``images`` knows which programs an image holds; no host program is
ever started and no host file is ever read. What is not faithful is listed in ``LIMITS.txt``.
"""

from nettests.lab.programs.images import run

__all__ = ["run"]
