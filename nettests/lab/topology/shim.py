"""What the runtime of a Windows node does when it starts a HostProcess container, by the version of its shim. Pure.

containerd ships hcsshim, and the shim decides where an image is seen on its host and whether ``cmd /c`` stands before
each command (microsoft/hcsshim, ``internal/jobcontainers``). Both are executables of their own: what a node reports is
containerd's version, and the block ``windows`` of a profile may state another shim.
"""

import re
from dataclasses import dataclass

from nettests.lab.topology.windows_settings import WindowsSettings

SHIMS = {(1, 6): 9, (1, 7): 11, (2, 0): 12, (2, 1): 13, (2, 2): 14, (2, 3): 15}
"""hcsshim 0.N of each minor of containerd (its ``go.mod``; the first releases of 1.7 had 0.10, which starts alike)."""

# containerd://2.0.5  containerd://1.7.28+unknown  docker://20.10.9
_CONTAINERD = re.compile(r"containerd://(\d+)\.(\d+)\.(\d+)")
_OLDEST = min(SHIMS)
_IMAGE_IN_HPC = 10
"""hcsshim 0.10: images at ``C:\\hpc``, bound into the container where the host can; groups as accounts; PATH extended."""
_WHOLE_OUTPUT = 12
"""hcsshim 0.12 no longer closes its ends of the pipes when a process exits (5eb195256)."""
_HPC_IS_DIRECTORY = (1, 7, 16)
"""containerd 1.7.16 starts HostProcess containers in ``C:\\hpc`` where neither Pod nor image says otherwise."""
_BIND_FILTER_BUILD, _BIND_FILTER_UPDATE = 19041, (17763, 3165)
"""Windows since 20H1 has ``bindfltapi.dll``; Server 2019 got it in July 2022 (KEP-1981; KB5015811)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shim:
    """hcsshim 0.``minor``; ``binds`` says that the host can bind files into a container's silo."""

    minor: int = max(SHIMS.values())
    binds: bool = True
    directory: str = r"C:\hpc"
    """Where containers start that name no working directory, as containerd writes it into their spec."""

    @property
    def behind_cmd(self) -> bool:
        """Whether ``cmd /c`` stands before each command of a HostProcess container."""
        return self.binds and self.images_in_hpc

    @property
    def images_in_hpc(self) -> bool:
        """Whether it is 0.10 or newer."""
        return self.minor >= _IMAGE_IN_HPC

    @property
    def loses_output(self) -> bool:
        """Whether output that a command wrote just before its end may be lost."""
        return self.minor < _WHOLE_OUTPUT

    def root(self, container_id: str) -> str:
        """Return where a HostProcess container sees its image, without the backslash at the end."""
        if not self.images_in_hpc:
            return rf"C:\C\{container_id}"
        return r"C:\hpc" if self.binds else rf"C:\hpc\{container_id}"


def shim_of(
    runtime: str, release: tuple[int, int], settings: WindowsSettings | None = None
) -> Shim:
    """Return the shim of a node: of its ``containerd://1.7.28``, its build and patch level, unless settings say otherwise."""
    given = settings or WindowsSettings()
    version = _version(runtime)
    minor = SHIMS[max(each for each in SHIMS if each <= version or each == _OLDEST)]
    binds = release[0] >= _BIND_FILTER_BUILD or (
        release[0] == _BIND_FILTER_UPDATE[0] and release >= _BIND_FILTER_UPDATE
    )
    return Shim(
        minor=int(given.hcsshim.partition(".")[2]) if given.hcsshim else minor,
        binds=binds if given.bind_filter is None else given.bind_filter,
        directory=r"C:\hpc" if version >= _HPC_IS_DIRECTORY else "C:\\",
    )


def _version(runtime: str) -> tuple[int, int, int]:
    match = _CONTAINERD.match(runtime)
    return (int(match[1]), int(match[2]), int(match[3])) if match else (1, 6, 0)
