"""All documents of a report by file name: the YAML document first; the others quote its digest."""

import hashlib

from nettests.conformance.badge import render_badge
from nettests.conformance.conformance_report import ConformanceReport
from nettests.conformance.report_markdown import render_markdown
from nettests.conformance.report_page import render_page
from nettests.conformance.report_yaml import render_yaml

NAME = "conformance"
YAML, PAGE, MARKDOWN, BADGE = (f"{NAME}.{ending}" for ending in ("yaml", "html", "md", "svg"))


def documents(report: ConformanceReport) -> dict[str, str]:
    """Return the text of each document; every one ends with a line feed."""
    text = render_yaml(report)
    source = hashlib.sha256(text.encode()).hexdigest()
    return {
        YAML: text,
        PAGE: render_page(report, source),
        MARKDOWN: render_markdown(report, source),
        BADGE: f"{render_badge(report).strip()}\n",
    }
