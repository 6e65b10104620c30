"""The index page of a diagnostics folder, for people who open it. Pure.

Markdown in which every text of a cluster is literal, and links lead to the folder's own files.
"""

from collections.abc import Sequence

from nettests.diagnose.collect import Collected
from nettests.diagnose.subjects import Subject
from nettests.model.markdown import code, inert


def index(collected: Sequence[Collected], left_out: Sequence[Subject]) -> str:
    """Return the page; the names in its links are made by ``names.safe_name``."""
    lines = ["# Diagnostics", ""]
    for section in collected:
        lines += [f"## {inert(str(section.subject))}", ""]
        for item in section.items:
            command_line = f" ({code(item.command_line)})" if item.command_line else ""
            if item.file:
                cut = ", cut" if item.cut else ""
                place = f"{section.subject.folder}/{item.file}"
                description = f"{inert(item.title)}{command_line}, {item.bytes} bytes{cut}"
                lines.append(f"- [{inert(place)}](./{place}): {description}")
        for problem, titles in section.missing.items():
            lines.append(f"- not available: {inert(', '.join(titles))}: {inert(problem)}")
        if section.checks:
            lines += ["", "For:", "", *(f"- {code(check)}" for check in section.checks)]
        lines.append("")
    if left_out:
        lines += ["## Left out", "", *(f"- {inert(str(subject))}" for subject in left_out), ""]
    return "\n".join(lines)
