"""A page leads to its own folder and to the web addresses of documents, whatever a journal says."""

import re
from collections.abc import Iterator

import pytest

from nettests.model.expectation import Source
from nettests.model.journal_records import Diagnostics, DiagnosticsItem, End, Judged, Record
from nettests.model.words import Verdict
from nettests.report import build_results, render_html, render_markdown
from nettests.report.html_report import inside, link
from tests.report.opened import opened
from tests.report.scenario import Story, records

FORGED = [
    "//evil.test/x",
    "/etc/passwd",
    "../../../home",
    "javascript:alert(1)",
    "http://evil.test",
    "diagnostics/../..",
    "../other/x",
    "../../diagnostics/x",
    "diagnostics//evil.test",
    "\\\\evil.test\\x",
    "data:text/html,x",
    "diagnostics/./x",
    "diagnostics",
    "diagnostics/",
    "diagnostics/a/../../x",
    "diagnostics/..",
    "diagnostics/a\\\\b",
    "",
]


@pytest.mark.parametrize("path", FORGED)
def test_no_forged_path_is_a_link(path: str) -> None:
    """What is no plain path below the folder is shown, and leads nowhere."""
    assert inside(path) is None
    below = inside("diagnostics/nodes/w1", path or "..")
    assert below is None or re.fullmatch(r"diagnostics/nodes/w1/[\w%/.~-]+", below)
    assert below is None or ".." not in below.split("/")


def test_paths_of_diagnostics_are_links() -> None:
    """Folders and files as a run writes them are linked, relative to the page."""
    assert inside("diagnostics/nodes/w1") == "diagnostics/nodes/w1/"
    assert inside("diagnostics/a?b#c", "a:b") == "diagnostics/a%3Fb%23c/a%3Ab"
    assert inside("../diagnostics/dns", "a.log") == "../diagnostics/dns/a.log"  # judged again
    assert inside("diagnostics/pods/x~0af3", "a.log") == "diagnostics/pods/x~0af3/a.log"


@pytest.mark.parametrize(
    "address",
    [
        "http://kubernetes.io@evil.test/",
        "https://evil.test\\@kubernetes.io",
        "https:kubernetes.io",
        "https:///x",
        "http://\u202emoc.test",
        "javascript://kubernetes.io/%0aalert(1)",
        "//kubernetes.io",
    ],
)
def test_no_deceiving_address_is_a_link(address: str) -> None:
    """An address whose host is not what it seems is text."""
    assert link(Source(document=address, address=address)) is None


def forged(folder: str) -> Iterator[Record]:
    """Yield a run with a failing check, and diagnostics of it at a forged place."""
    last = None
    for record in records(Story(failing=lambda check: check.source.kind.value == "pod")):
        if isinstance(record, End):
            last = record
            continue
        yield record
        if isinstance(record, Judged) and record.judgement.verdict is Verdict.FAIL:
            yield Diagnostics(
                subject=folder,
                folder=folder,
                checks=(record.judgement.check,),
                items=(DiagnosticsItem(file="x", title="www.evil.test", bytes=1),),
            )
    if last:
        yield last


def test_a_forged_journal_makes_no_links() -> None:
    """The page of a journal whose diagnostics stand elsewhere has no address that leads there."""
    results = build_results(forged("//evil.test/x"))
    assert results.diagnostics
    page = opened(render_html(results))
    assert "evil.test" in page.text_content()
    addresses = page.xpath("//@href | //@src | //@action")
    assert addresses
    assert not [one for one in addresses if "evil" in one or one.startswith(("/", "\\"))]
    told = render_markdown(results)
    assert "evil.test" in told
    assert "www.evil" not in told
