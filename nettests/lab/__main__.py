"""``python -m nettests.lab``: the command line of the lab, if its libraries are installed.

The libraries come with the extra ``lab``. All of them are checked before any is imported: some are imported
only by the lab's own process, which would fail with a less useful message.
"""

import sys
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from nettests.lab.errors import LabError

LIBRARIES = {
    "aiohttp": "aiohttp",
    "httptools": "httptools",
    "pyroute2": "pyroute2",
    "ruamel.yaml": "ruamel.yaml",
    "trustme": "trustme",
}
"""What the extra brings (decision 0040), each with the module that it is imported by."""
NOT_INSTALLED = 4
"""The exit code, as pytest's for wrong usage; ``nettests run --lab`` ends with it too."""


INSTALL = "pip install 'nettests[lab]'"
ELSEWHERE = "on Windows start it in WSL 2, on macOS in a Linux virtual machine"
_HELP = """Usage: nettests lab COMMAND [OPTIONS]

  Emulated mixed clusters: Linux and Windows nodes with real packets, in network namespaces.

  up, down, status, kubeconfig, profiles, fault; each has its own --help once the lab's libraries are installed.
"""


def missing() -> list[str]:
    """Return the names of the libraries that are not installed."""
    return [name for name, module in LIBRARIES.items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that would hold it
        return False


def main() -> None:
    """Run the command line, or report what to install; help and the list of profiles need no libraries."""
    absent = missing()
    elsewhere = sys.platform != "linux"
    if (absent or elsewhere) and _answered_without(sys.argv[1:]):
        return
    if elsewhere:
        _end(LabError("the lab is made of Linux network namespaces", hint=ELSEWHERE))
    if absent:
        libraries = ", ".join(absent)
        _end(LabError(f"the lab needs libraries that are not installed: {libraries}", hint=INSTALL))
    from nettests.lab import cli  # noqa: PLC0415 - needs the libraries

    cli.main()


def _end(error: LabError) -> NoReturn:
    sys.stderr.write(f"Error: {error}\n")
    sys.exit(NOT_INSTALLED)


def _answered_without(words: Sequence[str]) -> bool:
    """Answer commands that need no library, with a hint on installing; return whether it did."""
    if words == ["profiles"]:
        package = Path(str(files("nettests")))
        folders = (root / "manifests" / "lab" for root in (package.parent, package / "_bundled"))
        lines = sorted(file.stem for folder in folders for file in folder.glob("*.yaml"))
    elif not words or {"-h", "--help"} & {*words}:
        lines = [_HELP]
    else:
        return False
    how = INSTALL if sys.platform == "linux" else ELSEWHERE
    sys.stdout.write("\n".join([*lines, f"To start a lab: {how}"]) + "\n")
    return True


if __name__ == "__main__":
    main()
