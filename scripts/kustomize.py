"""Write ``manifests/kustomize``: what ``nettests job render`` prints, as bases for kustomize.

``python scripts/kustomize.py`` after roles or Jobs have changed; a test tells when. For each role there is a base with the
identity alone, for an administrator, and one with a Job and one with a CronJob on top of it.
"""

import sys
from pathlib import Path
from typing import Any

from nettests.cli.job_commands import published_roles
from nettests.job.identity import identity
from nettests.job.validation import Role, Wanted, checked
from nettests.job.workload import workload
from nettests.model.yaml_text import write_yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "manifests" / "kustomize"
HEADER = "# Made by `python scripts/kustomize.py`; overlays take it as it is.\n"
IMAGE = "nettests"
"""The name that an overlay's `images` replaces."""
SCHEDULE = "17 2 * * *"
OBJECTS = "objects.yaml"


def main() -> None:
    """Write every base."""
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def files() -> dict[Path, str]:
    """Return the files of all bases with their texts."""
    texts: dict[Path, str] = {}
    for name, (below, items) in bases().items():
        objects = "".join(f"---\n{write_yaml(item, ascii_only=True)}" for item in items)
        texts[FOLDER / name / OBJECTS] = f"{HEADER}{objects}"
        texts[FOLDER / name / "kustomization.yaml"] = HEADER + write_yaml(
            {
                "apiVersion": "kustomize.config.k8s.io/v1beta1",
                "kind": "Kustomization",
                "resources": [*below, OBJECTS],
            }
        )
    return texts


def bases() -> dict[str, tuple[list[str], list[dict[str, Any]]]]:
    """Return of each base the bases below it, and its own objects."""
    roles = published_roles()
    by_name: dict[str, tuple[list[str], list[dict[str, Any]]]] = {}
    for role in Role:
        job = checked(Wanted(image=IMAGE, role=role))
        nightly = checked(Wanted(image=IMAGE, role=role, schedule=SCHEDULE))
        by_name[role.value] = ([], identity(job, roles))
        by_name[f"{role.value}-job"] = ([f"../{role.value}"], workload(job))
        by_name[f"{role.value}-cronjob"] = ([f"../{role.value}"], workload(nightly))
    return by_name


if __name__ == "__main__":
    main()
