"""Fetch axe-core, which finds what of a page people cannot read or reach, for the tests: by npm, into ``.cache/axe``.

Its licence (MPL-2.0) is another one than ours, and it has half a megabyte: it is not in the repository. The version and
its digest are fixed here. ``make test`` calls this; without npm, or without a registry, nothing is fetched, it says so
and ends well, and the tests that need it are skipped with the reason.
"""

import base64
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
FILE = Path(__file__).resolve().parent.parent / ".cache" / "axe" / f"axe-{VERSION}.min.js"
MEMBER = "package/axe.min.js"
PATIENCE_SECONDS = 60


def script_in(package: bytes) -> bytes:
    """Return the script of axe-core in an npm package; ``ValueError`` for another one than ours."""
    if base64.b64encode(hashlib.sha512(package).digest()).decode() != SHA512:
        raise ValueError("its digest does not match than that of this version")
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        member = archive.extractfile(MEMBER)
        if member is None:
            raise ValueError(f"it holds no {MEMBER}")
        return member.read()


def package(folder: Path) -> bytes:
    """Return the package, as npm brings it into a folder."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("there is no npm here")
    words = [npm, "pack", f"axe-core@{VERSION}", "--silent", "--pack-destination", str(folder)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    return next(folder.glob("*.tgz")).read_bytes()


def main() -> None:
    """Fetch it unless it is there."""
    if FILE.is_file():
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            script = script_in(package(Path(folder)))
    except (
        OSError,
        ValueError,
        StopIteration,
        subprocess.SubprocessError,
        tarfile.TarError,
    ) as error:
        sys.stdout.write(f"[set-up] axe-core is not fetched, its tests are skipped: {error}\n")
        return
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(script)


if __name__ == "__main__":
    main()
