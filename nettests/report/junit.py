"""``Results`` → ``junit.xml``: the report for CI systems.

Written here because the default family of ``--junitxml`` refuses properties on a test case. One
suite per flow, one test case per check, with its values as properties; ``limited`` is a skip of
type ``pytest.xfail`` with the limitation's id, ``unknown`` an error. A failure that the site's
baseline accepts is a skip of its own type if it does not fail the run, so viewer and exit code
agree. The schema is ``junit.xsd``.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from nettests.model.visible import one_line, visible
from nettests.model.words import Verdict
from nettests.report.matrix import FlowGroup, flow_groups
from nettests.report.members import member_line
from nettests.report.results import CheckResult, Results
from nettests.report.summary import VERDICTS

MESSAGE_LENGTH = 1000
"""Characters of a message: viewers show it as one line."""
DETAIL_LENGTH = 8000
"""Characters of the text below a message; ``results.json`` has all of it."""
MEMBERS = 20
"""Members listed per check; GitLab shows eighty lines of a text."""
_BRIEF = frozenset({Verdict.PASS, Verdict.SKIPPED})
"""Verdicts whose test cases need no other property."""
_EXCUSED = ("skipped", "nettests.accepted")


def _element(result: CheckResult) -> tuple[str, str]:
    """Return the child element and its type; a pass and a record have none."""
    if result.excused:
        return _EXCUSED
    element, _, kind = VERDICTS[result.verdict].get("junit", "").partition(" ")
    return element, kind


def render_junit(results: Results) -> str:
    """Render the XML; a run that could not start is one test case with an error."""
    groups = flow_groups(results.checks)
    causes = {
        check: incident.cause
        for incident in reversed(results.incidents)  # a check's first incident explains it best
        if incident.explained
        for check in incident.checks
    }
    root = ET.Element("testsuites", {"name": "nettests", **_totals(results)})
    for group in groups:
        root.append(_suite(results, group, causes))
    if results.run.error is not None:
        root.append(_failed_start(results))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _totals(results: Results) -> dict[str, str]:
    started_badly = results.run.error is not None
    totals = _tally(results.checks)
    if started_badly:
        totals.update(tests="1", errors="1")
    return {**totals, "time": _time(results.run.seconds)}


def _tally(checks: Sequence[CheckResult]) -> dict[str, str]:
    elements = [_element(check)[0] for check in checks]
    return {
        "tests": str(len(checks)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "skipped": str(elements.count("skipped")),
    }


def _suite(results: Results, group: FlowGroup, causes: Mapping[str, str]) -> ET.Element:
    members = (*group.checks, *group.skips)
    spent = sum(_elapsed(check) for check in members)
    suite = ET.Element(
        "testsuite",
        {
            "name": visible(group.flow),
            **_tally(members),
            "time": _time(spent),
            **_timestamp(results),
        },
    )
    _properties(suite, _run_properties(results))
    for check in members:
        suite.append(_case(check, causes.get(check.id)))
    return suite


def _case(result: CheckResult, cause: str | None) -> ET.Element:
    case = ET.Element(
        "testcase",
        {
            "classname": visible(f"nettests.{result.flow}"),
            "name": visible(result.id),
            "time": _time(_elapsed(result)),
        },
    )
    _properties(case, _check_properties(result))
    tag, kind = _element(result)
    if tag:
        message = f"{cause}: {_message(result)}" if cause else _message(result)
        detail = f"incident: {cause}\n{_detail(result)}" if cause else _detail(result)
        attributes = {"type": kind, "message": one_line(message, limit=MESSAGE_LENGTH)}
        ET.SubElement(case, tag, attributes).text = _bounded(detail)
    return case


def _message(result: CheckResult) -> str:
    if result.excused and result.accepted:
        accepted = result.accepted
        return f"{result.verdict.value}, accepted until {accepted.expires}: {accepted.reason}; {result.message}"
    if result.verdict is Verdict.LIMITED and result.limitation_id:
        summary = result.limitation.summary if result.limitation else result.message
        return f"{result.limitation_id} {summary}"
    return result.message


def _detail(result: CheckResult) -> str:
    lines = [result.message, f"expected: {result.expected}", f"observed: {result.observed}"]
    if result.verdict is Verdict.SKIPPED:
        lines = [result.message]
    if result.limitation:
        lines += [f"because: {reason}" for reason in result.limitation.because]
        lines += [
            f"source: {source} {source.address}".rstrip() for source in result.limitation.sources
        ]
    if result.next_step:
        lines.append(f"next step: {result.next_step}")
    lines += [
        f"{check.label}: {check.verdict.value}: {one_line(check.message)}"
        for check in result.deviating[:MEMBERS]
    ]
    if len(result.deviating) > MEMBERS:
        lines.append(f"… and {len(result.deviating) - MEMBERS} more: {_REST}")
    return "\n".join(lines)


_REST = "results.json has all"


def _bounded(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= DETAIL_LENGTH else f"{shown[:DETAIL_LENGTH]}… {_REST}"


def _check_properties(result: CheckResult) -> dict[str, str | None]:
    if result.verdict in _BRIEF:
        return {"verdict": result.verdict.value}
    check, seen = result.check, result.observation
    properties: dict[str, str | None] = {
        "verdict": result.verdict.value,
        "expected": result.expected,
        "observed": result.observed,
        "limitation": result.limitation_id,
        "accepted": result.accepted.reason if result.accepted else None,
        "accepted.expires": result.accepted.expires if result.accepted else None,
        "attempts": str(len(seen.attempts)) if seen else None,
        "server_saw": seen.server_saw if seen else None,
        "channel": seen.channel if seen else None,
        "members": member_line(result) if result.members else None,
    }
    if check is not None:
        properties |= {
            "placement": check.placement.value,
            "protocol": check.action.protocol.value,
            "family": check.action.family.value,
        }
        for name, end in (("source", check.source), ("target", check.target)):
            properties |= {
                f"{name}.kind": end.kind.value,
                f"{name}.os": end.os.value if end.os else None,
                f"{name}.build": str(end.build) if end.build else None,
                f"{name}.node": end.node,
            }
    return properties


def _run_properties(results: Results) -> dict[str, str | None]:
    return {
        "run_id": results.run.run_id,
        "nettests": results.run.nettests,
        "facts_digest": results.facts_digest,
        "kubernetes": str(results.facts.server_version) if results.facts else None,
    }


def _properties(parent: ET.Element, values: dict[str, str | None]) -> None:
    present = {name: value for name, value in values.items() if value}
    if present:
        holder = ET.SubElement(parent, "properties")
        for name, value in present.items():
            text = one_line(value, limit=MESSAGE_LENGTH)
            ET.SubElement(holder, "property", {"name": name, "value": text})


def _failed_start(results: Results) -> ET.Element:
    suite = ET.Element(
        "testsuite",
        {
            "name": "nettests",
            "tests": "1",
            "failures": "0",
            "errors": "1",
            "skipped": "0",
            "time": _time(results.run.seconds),
            **_timestamp(results),
        },
    )
    _properties(suite, _run_properties(results))
    case = ET.SubElement(
        suite, "testcase", {"classname": "nettests", "name": "run", "time": _time(None)}
    )
    error = results.run.error or ""
    message = one_line(error, limit=MESSAGE_LENGTH)
    element = ET.SubElement(case, "error", {"type": "nettests.start", "message": message})
    element.text = _bounded(error)
    return suite


def _elapsed(result: CheckResult) -> float:
    return sum(raw.elapsed for check in (result, *result.members) for raw in check.raws)


def _time(seconds: float | None) -> str:
    return f"{seconds or 0:.3f}"


def _timestamp(results: Results) -> dict[str, str]:
    # xs:dateTime as JUnit readers expect it: to the second, without a time zone.
    return {"timestamp": results.run.started[:19]} if results.run.started else {}
