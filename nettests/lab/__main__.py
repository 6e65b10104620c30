"""``python -m nettests.lab``: the command line of the lab, where what it needs is installed.

The lab's libraries come with the extra ``lab``. All of them are looked for before any is imported: some are
imported only by the lab's own process, which would fail with a less useful message.
"""

import sys
from importlib.util import find_spec

from nettests.lab.errors import LabError

LIBRARIES = {
    "aiohttp": "aiohttp",
    "dnspython": "dns",
    "h11": "h11",
    "jsonpatch": "jsonpatch",
    "pyroute2": "pyroute2",
    "ruamel.yaml": "ruamel.yaml",
    "trustme": "trustme",
}
"""What the extra brings (decision 0040), each with the module that it is imported by."""
NOT_INSTALLED = 4
"""The exit code, as pytest's for wrong usage; ``nettests run --lab`` ends with it too."""


def missing() -> list[str]:
    """Return the names of the libraries that are not installed."""
    return [name for name, module in LIBRARIES.items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that would hold it
        return False


def main() -> None:
    """Run the command line, or say what to install."""
    absent = missing()
    if absent:
        error = LabError(
            f"the lab needs libraries that are not installed: {', '.join(absent)}",
            hint="pip install 'nettests[lab]'",
        )
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(NOT_INSTALLED)
    from nettests.lab import cli  # noqa: PLC0415 - needs the libraries

    cli.main()


if __name__ == "__main__":
    main()
