"""The lab's planner and the harness' rules beside 716 recorded cases of the real winkernel proxier (1.36.2)."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.winkernel import rules
from tests.winkernel.playing import differences
from tests.winkernel.recording import Balancer, read

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/fixtures/transcripts/winkernel.jsonl"


def test_every_recorded_state_is_planned_and_conforms() -> None:
    """The planner queries HNS for the same, and no rule finds anything wrong."""
    cases = list(read(RECORDED))
    assert len(cases) == 716
    found = {str(case): list(differences(case)) for case in cases}
    assert {name: told for name, told in found.items() if told} == {}


def _mutations(balancers: list[Balancer]) -> Iterator[tuple[str, list[Balancer]]]:
    for number, one in enumerate(balancers):
        rest = balancers[:number] + balancers[number + 1 :]
        yield f"without {one}", rest
        yield f"a backend more: {one}", [*rest, replace(one, backends=(*one.backends, "10.9.9.9"))]
        yield f"the other DSR: {one}", [*rest, replace(one, flags=one.flags ^ {"DSR"})]
        source = "" if one.source_vip else "10.244.3.2"  # none on overlay, one on bridges
        yield f"another source VIP: {one}", [*rest, replace(one, source_vip=source)]
        yield f"another port: {one}", [*rest, replace(one, internal_port=one.internal_port + 7)]
        if len(set(one.backends)) > 1:
            fewer = tuple(sorted(set(one.backends) - {one.backends[0]}))
            yield f"a backend less: {one}", [*rest, replace(one, backends=fewer)]


def test_a_state_that_is_changed_by_hand_deviates() -> None:
    """A load balancer less, a backend more or less, the wrong flag: rules find it in first states of every kind.

    But for that of SCTP (47), of which a rule looks for load balancers alone: what HNS makes of them is left open.
    """
    names = ("01 ", "04 ", "05 ", "08 ", "09 ", "13 ", "41 ", "61 ", "82 ", "86 ")
    tried, missed = 0, []
    for case in read(RECORDED):
        if not case.name.startswith(names):
            continue
        step = case.steps[0]
        for told, changed in _mutations(sorted(step.balancers, key=str)):
            tried += 1
            if not list(rules.findings(case, step, changed)):
                missed.append(f"{case}: {told}")
    assert tried > 300
    assert missed == []


def test_the_script_names_what_differs(tmp_path: Path) -> None:
    """It says how many states there are, how many differ, and what the first differ by."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()[:2]
    file = tmp_path / "recorded.jsonl"
    file.write_text(
        "\n".join([lines[0], lines[1].replace('"externalPort":80', '"externalPort":81')])
    )
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/winkernel.py", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "recorded, not planned: 10.96.1.1:81/tcp to 8080" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 states, 1 differ"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "recorded.jsonl:2 is not JSON"),
        ("[]", "recorded.jsonl:2 is no recorded case"),
        ('{"name": "n", "settings": {}, "steps": []}', "it lacks 'networkType'"),
        ('{"name": "n", "settings": {}}', "it lacks 'steps'"),
    ],
)
def test_the_script_names_the_line_that_is_no_case(tmp_path: Path, line: str, told: str) -> None:
    """A file that is none of recordings ends with 2 and a sentence, not with a traceback."""
    file = tmp_path / "recorded.jsonl"
    first = RECORDED.read_text(encoding="utf-8").splitlines()[0]
    file.write_text(f"{first}\n{line}\n")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/winkernel.py", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_source_vip_on_an_overlay_deviates() -> None:
    """One load balancer kept the address that kube-proxy had before; the node's own address is no second one."""
    case = next(one for one in read(RECORDED) if one.overlay and one.name.startswith("05 "))
    first, *rest = sorted(case.steps[0].balancers, key=str)
    assert rest
    old, own = (
        replace(first, source_vip=source) for source in ("10.244.3.77", case.settings["nodeIP"])
    )
    (found,) = rules.findings(case, case.steps[0], [old, *rest])
    assert "several source VIPs: 10.244.3.2, 10.244.3.77" in found
    assert list(rules.findings(case, case.steps[0], [own, *rest])) == []


def test_what_leads_to_a_lost_endpoint_is_left_out_and_nothing_else() -> None:
    """kube-proxy deleted a Pod's own endpoint: Services that lead there are broken indeed, all others are compared."""
    case = next(one for one in read(RECORDED) if one.name.startswith("01 "))
    step = case.steps[0]
    assert step.balancers
    wrong = [replace(one, backends=(*one.backends, "10.9.9.9")) for one in step.balancers]
    mine = {address for one in step.balancers for address in one.backends}
    (led,) = [pod[0] for pod in case.pods if mine & set(pod)]
    assert list(rules.findings(case, step, wrong, {led})) == []
    other = "10.244.3.99"
    more = replace(case, settings={**case.settings, "local": [*case.settings["local"], [other]]})
    assert list(rules.findings(more, step, sorted(step.balancers, key=str), {other})) == []
    assert list(rules.findings(more, step, wrong, {other})) != []
