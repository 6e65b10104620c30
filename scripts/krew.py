"""``make krew``: the archive and the manifest by which ``kubectl krew`` installs ``kubectl nettests``.

krew installs a program from an archive by its digest, and knows no Python packages; so what is in the archive starts the
package of this very version with uv or pipx, whichever is there. The digest is of the archive that is made here: the same
bytes for the same tree, so that whoever publishes it can make it anew.
"""

import argparse
import gzip
import hashlib
import io
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
NAME = "nettests"
PROGRAM = "kubectl-nettests"
PLACE = "https://krew.invalid"
"""Where nothing is: krew's own `--archive` takes the file instead, until somebody publishes it."""
_PROGRAM = """\
#!/bin/sh
# kubectl nettests, from the Python package of the same version.
set -eu
if command -v uv >/dev/null 2>&1; then
    exec uv tool run --from "nettests=={version}" kubectl-nettests "$@"
elif command -v pipx >/dev/null 2>&1; then
    exec pipx run --spec "nettests=={version}" kubectl-nettests "$@"
fi
echo "kubectl nettests needs uv or pipx, which brings it Python: install one of them" >&2
exit 4
"""


def main() -> None:
    """Write both files, and say how they are tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"))
    parser.add_argument("--uri", help="where the archive will be")
    given = parser.parse_args()
    archive, manifest = write(given.out, given.uri)
    sys.stdout.write(f"kubectl krew install --manifest={manifest} --archive={archive}\n")


def write(out: Path, uri: str | None = None) -> tuple[Path, Path]:
    """Write archive and manifest into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    name = f"{PROGRAM}-{version()}.tar.gz"
    archive, manifest = out / name, out / f"{NAME}.yaml"
    archive.write_bytes(archived())
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    text = yaml.safe_dump(plugin(uri or f"{PLACE}/{name}", digest), sort_keys=False, width=100)
    manifest.write_text(text, "utf-8")
    return archive, manifest


def version() -> str:
    """Return the version of this tree."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return str(stated["project"]["version"])


def archived() -> bytes:
    """Return the archive: the program and the licence."""
    program = _PROGRAM.format(version=version()).encode()
    licence = (ROOT / "LICENSE").read_bytes()
    written = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=written, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as packed,
    ):
        for name, content, mode in ((PROGRAM, program, 0o755), ("LICENSE", licence, 0o644)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            packed.addfile(member, io.BytesIO(content))
    return written.getvalue()


def plugin(uri: str, digest: str) -> dict[str, Any]:
    """Return krew's manifest."""
    platforms = [
        {
            "selector": {"matchLabels": {"os": "linux", "arch": arch}},
            "uri": uri,
            "sha256": digest,
            "bin": PROGRAM,
        }
        for arch in ("amd64", "arm64")
    ]
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": NAME},
        "spec": {
            "version": f"v{version()}",
            "shortDescription": "Test Windows networking against its documents",
            "description": (
                "Does Windows networking in this cluster behave as documented, for its own Kubernetes "
                "version, Windows builds, network plugin and kube-proxy settings? Runs checks with real "
                "packets and reports what deviates, and what is documented to deviate.\n"
            ),
            "caveats": "Needs uv or pipx, which fetches the Python package of the same version.\n",
            "platforms": platforms,
        },
    }


if __name__ == "__main__":
    main()
