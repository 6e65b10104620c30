"""Write ``docs/reference/bugs.md``: public reports of bugs, and the checks that turn red while their symptoms are there.

``python scripts/bugs.py`` makes it again of ``manifests/bugs/reports.yaml``, whose classes and flows are looked up in the
suites.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from nettests.model.visible import literal
from nettests.model.words import CheckClass
from nettests.plan import Flow
from nettests.session.survey import survey

ROOT = Path(__file__).parents[1]
DATA = ROOT / "manifests" / "bugs" / "reports.yaml"
PAGE = ROOT / "docs" / "reference" / "bugs.md"
HEAD = """# Reported bugs

Made by `python scripts/bugs.py` of [manifests/bugs](../../manifests/bugs/reports.yaml); a test compares it with suites and limitations.

Public reports of Windows networking on Kubernetes from 2018 to 2026, each with the checks that turn red while its symptom is there.
It says what a run on such a cluster would show, not that a cluster has the bug.

| status | meaning |
| --- | --- |
| `caught` | a check of the default class turns red |
| `enable` | a check turns red whose class has to be enabled |
| `said` | a [limitation](../guides/limitations.md) names it: the check is `limited`, `known-bug` or `recorded`, with the entry's id |
| `blind` | no check can see it, for the reason given |

Where reports are acted out, a nightly test injects faults of the lab that give the symptom, and the check marked with ● has to turn red.
"""
STATUSES = ("caught", "enable", "said", "blind")

Report = Mapping[str, Any]


def reports() -> Sequence[Report]:
    """Return all reports, in the order of the file."""
    listed: Sequence[Report] = yaml.safe_load(DATA.read_text("utf-8"))["reports"]
    return listed


def classes_of(check: str, flows: Mapping[str, Flow]) -> tuple[str, ...]:
    """Return the classes that have to be enabled for a check; none for one that runs by default."""
    named = flows[check.partition("#")[0]].classes
    return tuple(each.value for each in named if each is not CheckClass.DEFAULT)


def render(listed: Sequence[Report], flows: Mapping[str, Flow]) -> str:
    """Return the page."""
    counts = Counter(report["status"] for report in listed)
    acted = sum("acted" in report for report in listed)
    summary = ", ".join(f"{counts[status]} {status}" for status in STATUSES)
    rows = [
        "| year | report | symptom | versions | status | checks, entry or reason |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for report in sorted(listed, key=lambda each: (-each["year"], each["link"])):
        cells = (
            str(report["year"]),
            f"[{literal(_named(report['link']))}]({report['link']})",
            literal(report["symptom"]),
            literal(report["versions"]),
            report["status"],
            _shown(report, flows),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return (
        f"{HEAD}\n{len(listed)} reports: {summary}; {acted} are acted out.\n\n"
        + "\n".join(rows)
        + "\n"
    )


def _named(link: str) -> str:
    owner, repository, kind, number = urlsplit(link).path.strip("/").split("/")
    return f"{owner}/{repository} {'issue' if kind == 'issues' else 'pull request'} {number}"


def _shown(report: Report, flows: Mapping[str, Flow]) -> str:
    if "reason" in report:
        return literal(report["reason"])
    acted = report.get("acted", {}).get("check")
    cells = []
    for check in report["checks"]:
        name, _, case = check.partition("#")
        enabled = "".join(f" `--enable={each}`" for each in classes_of(check, flows))
        mark = " ●" if acted in {check, name} else ""
        label = f": `{case}`" if case else ""
        cells.append(f"[`{name}`](catalogue.md#{name}){label}{enabled}{mark}")
    entry = [f"entry `{report['limitation']}`"] if "limitation" in report else []
    return "<br>".join((*cells, *entry))


if __name__ == "__main__":
    PAGE.write_text(render(reports(), {flow.name: flow for flow in survey().flows}), "utf-8")
