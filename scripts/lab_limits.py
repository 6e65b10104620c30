"""Write ``nettests/lab/LIMITS.md``: one document of the ``LIMITS.txt`` of each package of the lab.

``python scripts/lab_limits.py`` makes it again. Each package says beside its code where it is not faithful;
the document only puts these texts one after the other.
"""

from pathlib import Path

LAB = Path(__file__).parents[1] / "nettests" / "lab"
TITLES = {
    "network": "Data plane: both systems, switch, Service rules, overlay",
    "apiserver": "The Kubernetes API, exec, port-forward, proxies",
    "programs": "Programs and name resolution",
    "node": "Nodes and Pods",
    "controllers": "Scheduler and controllers",
    "outside": "Outside",
    "topology": "Profiles",
    "faults": "Faults",
}
"""The sections in the order of the document, by the package that each is about."""


def document() -> str:
    """Return the whole document, from the texts as they stand."""
    parts = [(LAB / "LIMITS.txt").read_text("utf-8").strip()]
    for package, title in TITLES.items():
        text = (LAB / package / "LIMITS.txt").read_text("utf-8").strip()
        parts.append(f"## {title}\n\n{text}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (LAB / "LIMITS.md").write_text(document(), "utf-8")
