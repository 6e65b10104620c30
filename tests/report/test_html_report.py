"""``report.html`` is one file that can be read without a network or colours, and but for evidence without a script."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
from lxml import html

from nettests.model.expectation import Source
from nettests.model.journal_records import Diagnostics, DiagnosticsItem, Event, Judged
from nettests.model.words import Verdict
from nettests.report import Results, build_results, render_html, render_json, render_markdown
from nettests.report.html_report import link
from nettests.report.matrix import flow_groups
from nettests.report.summary import SYMBOL
from tests.report.hostile import hostile_records
from tests.report.opened import opened, unpacked
from tests.report.scenario import eventful, records


@pytest.fixture(scope="module")
def page(eventful_run: Results) -> html.HtmlElement:
    return opened(render_html(eventful_run))


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return render_html(build_results(hostile_records()))


def words(element: html.HtmlElement) -> str:
    return " ".join(" ".join(element.itertext()).split())


def test_the_page_requests_nothing(page: html.HtmlElement) -> None:
    """No element loads anything: no address but of links and of the page's own shapes."""
    loading = page.xpath("//@src | //link/@href | //*[local-name()='image']/@href | //@action")
    assert loading == []
    assert all(target.startswith("#") for target in page.xpath("//*[local-name()='use']/@href"))
    assert not re.search(r"url\(|@import", "".join(page.xpath("//style/text()")))


def test_the_page_forbids_what_is_not_its_own(page: html.HtmlElement) -> None:
    """The page's policy allows its own style and script by digest and nothing else."""
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert page.xpath("//@style") == []
    assert page.xpath("//@*[starts-with(name(), 'on')]") == []


def test_the_answer_comes_first(page: html.HtmlElement) -> None:
    """The headline answers the question, below it the cluster in one line."""
    assert words(page.find(".//h1")).startswith("Something is not as documented: ")
    (cluster,) = page.xpath("//p[@class='cluster']")
    assert words(cluster).startswith("Kubernetes 1.29.4 · 2 Windows nodes (17763.1339)")


def test_every_verdict_is_counted_at_first_sight(
    page: html.HtmlElement, eventful_run: Results
) -> None:
    """Each verdict's tile has its number, word and meaning."""
    for verdict, count in eventful_run.counts.items():
        (tile,) = page.xpath(f"//button[@data-verdict='{verdict.value}']")
        assert words(tile).startswith(f"{count} {verdict.value} ")


def test_each_check_is_one_cell_entry_with_shape_and_word(
    page: html.HtmlElement, eventful_run: Results
) -> None:
    """A matrix entry says its verdict by shape and by word, never by colour alone."""
    chips = page.xpath("//table[@class='matrix']//a[@data-check]")
    planned = {check.id: check.verdict for check in eventful_run.checks if check.check}
    assert {chip.get("data-check") for chip in chips} == set(planned)
    for chip in chips:
        verdict = planned[chip.get("data-check")]
        assert verdict.value in words(chip)
        assert f"v-{verdict.value}" in chip.get("class").split()


def test_shapes_differ(page: html.HtmlElement) -> None:
    """Each verdict has the symbol of the terminal, the same in tiles, cells and badges, and no other has it."""
    glyphs = dict(re.findall(r'\.v-([a-z-]+) \{ --glyph: "(.)"', page.findtext(".//style")))
    assert glyphs == {verdict.value: symbol for verdict, symbol in SYMBOL.items()}
    assert len(set(glyphs.values())) == len(Verdict)
    (shown,) = re.findall(
        r"^(.*)::before \{ content: var\(--glyph\);.* / \"\";",
        page.findtext(".//style"),
        re.MULTILINE,
    )
    assert {".icon", ".badge", ".chip", ".tally > span"} == set(shown.split("::before, "))
    tiles = page.xpath("//button[starts-with(@class, 'tile v-')]")
    assert all(one.xpath(".//span[@class='icon']") for one in tiles)


def test_each_link_within_the_page_has_its_end(page: html.HtmlElement) -> None:
    """One click on a cell, a flow or a limitation leads somewhere, without a script too."""
    ends = set(page.xpath("//@id"))
    within = {target[1:] for target in page.xpath("//a/@href") if target.startswith("#")}
    assert within <= ends
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_evidence_holds_command_output_and_controls(page: html.HtmlElement) -> None:
    """A red check's evidence has what was run, what came back, and the positive controls."""
    found = evidence(page, "pod-to-service-fqdn/linux-1/windows-1/other-node/tcp")
    text = words(found)
    assert "/dial?host=10.96.44.7" in text
    assert "connection refused" in text
    assert "Expected connected" in text
    assert "Observed refused" in text
    assert "Next step check that the target listens" in text
    assert "Positive controls" in text
    assert "client-pod 10.244.0.5" in text


def test_evidence_of_a_limitation_links_its_source(page: html.HtmlElement) -> None:
    """A limited check names limitation, mechanism, facts, place in the manifest and source."""
    found = evidence(page, "node-to-service-clusterip/windows-1/linux-1/other-node/udp")
    text = words(found)
    assert "win-node-to-clusterip" in text
    assert "No HNS load balancer rule" in text
    assert "--enable-dsr=false" in text
    assert "manifests/limitations/base.yaml:" in text
    assert "Without it: replied" in text
    assert found.xpath(".//a[starts-with(@href, 'https://kubernetes.io/docs/')]")


def test_evidence_of_many_connections_is_cut_and_says_where_the_rest_is(
    page: html.HtmlElement,
) -> None:
    """Thirty-two connections are sampled; the others are where the page says."""
    text = words(evidence(page, "session-affinity/windows-1/linux-1/other-node/tcp"))
    assert "more attempts, all in results.json" in text
    assert "more answers of this kind, all in journal.jsonl" in text
    assert "several-backends" in text


def test_skips_are_shown_with_their_reason(page: html.HtmlElement) -> None:
    """What never applied stands below its suite: a reason once, whatever the number of its flows."""
    reasons = page.xpath("//details[contains(@class, 'skips')]")
    of_flow = [one for one in reasons if "nodeport-from-external" in one.get("data-flow").split()]
    outside = "not run: the cluster profile declares no external vantage"
    assert [outside in words(one) for one in of_flow] == [True]
    assert words(of_flow[0]).count(outside) == 1
    assert "nodeport-from-external/external/windows-1/outside/tcp" in words(of_flow[0])


def test_unknown_facts_say_why(page: html.HtmlElement) -> None:
    """A fact that was not read is unknown with its reason, never blank."""
    (cluster,) = page.xpath("//section[@id='s-cluster']")
    assert "unknown host-gw has no overlay" in words(cluster)


def test_tables_are_labelled_for_screen_readers(page: html.HtmlElement) -> None:
    """Heads of rows and columns are marked as such, and scrolling regions have names."""
    assert page.xpath("//thead//th[not(@scope='col' or @scope='colgroup')]") == []
    assert page.xpath("//tbody//th[not(@scope='row' or @scope='rowgroup')]") == []
    assert page.xpath("//*[@role='region'][not(@aria-label)]") == []
    assert page.get("lang") == "en"


def test_hostile_texts_add_no_element(hostile_page: str) -> None:
    """Whatever a cluster says, the page's only script is its own, and no handler is added."""
    page = opened(hostile_page)
    (script,) = page.xpath("//script[not(@type='application/octet-stream')]")
    assert "alert(1)" not in script.text
    assert page.xpath("//*[@onmouseover]") == []
    assert page.xpath("//b[contains(., 'alert')]") == []


def test_hostile_texts_are_shown(hostile_page: str) -> None:
    """An attack is readable: as text, with its hidden characters named."""
    text = opened(hostile_page).text_content()
    assert "<script>alert(1)</script>" in text
    assert "{{ 7*7 }}" in text
    assert "⟨U+202E⟩txt.exe" in text
    assert "␀" in text


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\u202e", "\u2028", "\ufeff"])
def test_no_hidden_character_reaches_the_page(hostile_page: str, character: str) -> None:
    """Nothing in the page is invisible or reorders what stands around it."""
    assert character not in unpacked(hostile_page)


@pytest.mark.parametrize(
    ("address", "linked"),
    [
        ("https://kubernetes.io/docs/", True),
        ("http://example.test/a", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https:", False),
        ("//example.test", False),
        ("Kubernetes documentation, Services", False),
        ("http://[broken", False),
    ],
)
def test_only_web_addresses_are_linked(address: str, linked: bool) -> None:
    """A source becomes a link only if it has an http or https address with a host."""
    assert bool(link(Source(document=address))) is linked
    assert bool(link(Source(document="a document", address=address))) is linked


def test_a_run_that_could_not_start_has_a_page() -> None:
    """The page then says why, and nothing else."""
    told = Event(at="2026-11-21T14:04:12+00:00", text="the token expired")
    page = html.fromstring(render_html(build_results([told])))
    assert words(page.find(".//h1")) == "The run could not start"
    assert "the token expired" in words(page.xpath("//section[@class='hero']")[0])
    assert page.xpath("//table[@class='matrix']") == []


@pytest.mark.parametrize("render", [render_html])
def test_rendering_twice_gives_the_same_text(
    quiet: Results, render: Callable[[Results], str]
) -> None:
    """The page depends on nothing but its results."""
    assert render(quiet) == render(quiet)


def test_windows_stands_first_in_every_matrix(quiet: Results) -> None:
    """Rows and columns begin with Windows where there is one, and end with what lies outside."""
    for group in flow_groups(quiet.checks):
        for names in (group.table.rows, [column.target for column in group.table.columns]):
            kinds = [(not n.startswith("windows"), n.startswith("outside")) for n in names]
            assert kinds == sorted(kinds), group.flow


def evidence(page: html.HtmlElement, check_id: str) -> html.HtmlElement:
    (found,) = page.xpath(f"//div[@data-check='{check_id}']")
    element: html.HtmlElement = found
    return element


DIAGNOSTICS = Diagnostics(
    subject="node win 1",
    folder="diagnostics/nodes/win 1",
    checks=(),
    items=(
        DiagnosticsItem(file="hns.json", title="HNS <b>", bytes=7, cut=True),
        DiagnosticsItem(title="routes", problem="denied"),
        DiagnosticsItem(title="MTU", problem="denied"),
    ),
)


def diagnosed() -> tuple[Results, str]:
    """The eventful run with diagnostics of its first failing check, and that check's id."""
    told = list(records(eventful()))
    check = next(
        record.judgement.check
        for record in told
        if isinstance(record, Judged) and record.judgement.verdict is Verdict.FAIL
    )
    return build_results([*told, replace(DIAGNOSTICS, checks=(check,))]), check


def test_a_failing_check_leads_to_its_diagnostics() -> None:
    """Its evidence links each file relatively, says what is missing and why; other checks link nothing."""
    results, check = diagnosed()
    page = opened(render_html(results))
    (evidence,) = [
        one for one in page.xpath("//div[@class='evidence']") if one.get("data-check") == check
    ]
    links = [link for link in page.xpath("//a/@href") if link.endswith("hns.json")]
    assert links == ["diagnostics/nodes/win%201/hns.json"]
    assert "Not available: routes, MTU denied" in words(evidence)
    assert "HNS <b> cut to 7 bytes" in words(evidence)
    alerts = page.xpath("//li[contains(@class, 'alert')]")
    assert [check in words(one) for one in alerts if "Diagnostics" in words(one)] == [True]


def test_what_a_check_has_shown_stands_before_diagnostics() -> None:
    """In its evidence the attempts come first, then the files that were collected afterwards, then commands and answers."""
    results, check = diagnosed()
    page = opened(render_html(results))
    (evidence,) = page.xpath(f"//div[@class='evidence'][@data-check='{check}']")
    headings = [words(heading) for heading in evidence.xpath(".//h4 | .//figcaption")]
    (collected,) = [n for n, heading in enumerate(headings) if heading.startswith("Diagnostics")]
    (tried,) = [n for n, heading in enumerate(headings) if "attempt" in heading]
    answers = [n for n, heading in enumerate(headings) if " s, exit code " in heading]
    assert tried < collected
    assert all(collected < n for n in answers)


def test_documents_name_diagnostics() -> None:
    """``results.json`` lists them and stays valid; ``summary.md`` names the folder beside the check."""
    results, check = diagnosed()
    document = json.loads(render_json(results))
    schema = json.loads(files("nettests.report").joinpath("results.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    named = {one["id"]: one["diagnostics"] for one in document["checks"] if "diagnostics" in one}
    assert named == {check: ["diagnostics/nodes/win 1"]}
    assert document["diagnostics"][0]["items"][1]["problem"] == "denied"
    assert "Diagnostics: `diagnostics/nodes/win 1`" in render_markdown(results)
