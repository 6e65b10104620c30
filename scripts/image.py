"""``make image``: build the container image with whichever builder works here, under the version of pyproject.toml.

What is in it is the Dockerfile's to say. Nothing is pushed.
"""

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILDERS = {"docker": ("info",), "podman": ("info",), "buildah": ("info",)}
"""Builders, each with what it answers where it can build: a client may be there without its daemon."""


def main() -> None:
    """Build, and say under which name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", default=f"nettests:{version()}")
    parser.add_argument("--base", help="another base image than the Dockerfile's")
    given = parser.parse_args()
    builder = working_builder()
    if builder is None:
        sys.exit(f"No image was built: none of {', '.join(BUILDERS)} works here.")
    subprocess.run(command(builder, given.tag, given.base), cwd=ROOT, check=True)
    sys.stdout.write(f"image: {given.tag}\n")


def version() -> str:
    """Return the version of this tree."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return str(stated["project"]["version"])


def working_builder() -> str | None:
    """Return the first builder that is installed and answers."""
    for name, words in BUILDERS.items():
        if shutil.which(name) is None:
            continue
        done = subprocess.run([name, *words], capture_output=True, timeout=60, check=False)
        if done.returncode == 0:
            return name
    return None


def command(builder: str, tag: str, base: str | None = None) -> list[str]:
    """Return how a builder is called."""
    arguments = [
        f"--build-arg=VERSION={version()}",
        *([f"--build-arg=BASE={base}"] if base else []),
    ]
    return [builder, "build", f"--tag={tag}", *arguments, "--file=Dockerfile", "."]


if __name__ == "__main__":
    main()
