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
    for one in collected:
        lines += [f"## {inert(str(one.subject))}", ""]
        for item in one.items:
            command_line = f" ({code(item.command_line)})" if item.command_line else ""
            if item.file:
                cut = ", cut" if item.cut else ""
                place = f"{one.subject.folder}/{item.file}"
                told = f"{inert(item.title)}{command_line}, {item.bytes} bytes{cut}"
                lines.append(f"- [{inert(place)}](./{place}): {told}")
        for problem, titles in one.missing.items():
            lines.append(f"- not available: {inert(', '.join(titles))}: {inert(problem)}")
        if one.checks:
            lines += ["", "For:", "", *(f"- {code(check)}" for check in one.checks)]
        lines.append("")
    if left_out:
        lines += ["## Left out", "", *(f"- {inert(str(subject))}" for subject in left_out), ""]
    return "\n".join(lines)
