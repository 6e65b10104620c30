"""What the soak of settings calls a false verdict."""

import pytest

from scripts.settings import REFERENCE, SETTINGS, Run, Setting, false_verdicts

CLEAN = Run(
    exit_code=0,
    verdicts={
        "pod-to-pod-ip/linux-1/linux-1/tcp": "pass",
        "node-to-pod/linux-1/linux-1/tcp": "limited",
        "nodeport-from-external/external/linux-1/outside/tcp/backend-local": "skipped",
    },
)
POD, NODE, OUTSIDE = CLEAN.verdicts


def setting(name: str) -> Setting:
    """Return the setting of this name."""
    return next(one for one in SETTINGS if one.name == name)


def run(exit_code: int = 0, **verdicts: str) -> Run:
    """Return the clean run with some verdicts changed."""
    names = {"pod": POD, "node": NODE, "outside": OUTSIDE}
    changed = {names[name]: verdict for name, verdict in verdicts.items()}
    return Run(exit_code=exit_code, verdicts={**CLEAN.verdicts, **changed})


@pytest.mark.parametrize(
    ("name", "came"),
    [
        ("reference", run()),
        ("429", run()),
        ("role namespaced", run(node="skipped")),
        ("proxy vantage", run(outside="pass")),
        ("role discovery", run(7, pod="skipped", node="skipped")),
        ("Windows in ko-KR", run()),
        ("Windows in ko-KR", run(6, pod="unknown")),
    ],
)
def test_what_a_setting_makes_of_a_run_is_not_false(name: str, came: Run) -> None:
    """The same verdicts, what is forbidden skipped, and what becomes possible probed."""
    assert false_verdicts(setting(name), CLEAN, came) == []


@pytest.mark.parametrize(
    ("name", "came", "said"),
    [
        ("500", run(pod="unknown"), "unknown instead of pass"),
        ("500", run(pod="fail"), "fail instead of pass"),
        ("500", run(pod="skipped"), "skipped instead of pass"),
        ("resets", run(node="pass"), "pass instead of limited"),
        ("resets", run(outside="pass"), "pass instead of skipped"),
        ("role namespaced", run(node="limited"), "limited, though this setting forbids it"),
        ("role namespaced", run(node="unknown"), "unknown instead of limited"),
        ("proxy vantage", run(), "skipped, though this setting lets it be probed"),
        ("slow answers", run(6), "exit code 6 instead of 0"),
        ("HNS of the Gallery", run(6, node="fail"), "fail instead of limited"),
    ],
)
def test_what_is_false_is_named(name: str, came: Run, said: str) -> None:
    """Red, green for another reason, judged though forbidden, left out though allowed, another exit code."""
    (line,) = false_verdicts(setting(name), CLEAN, came)
    assert said in line


def test_a_run_that_is_red_is_no_reference() -> None:
    """Compared with itself it is false."""
    red = run(pod="flaky")
    assert len(false_verdicts(REFERENCE, red, red)) == 1


def test_a_run_that_said_nothing_is_false_in_everything() -> None:
    """A check that is absent is not as it was."""
    assert len(false_verdicts(setting("429"), CLEAN, Run(exit_code=0))) == len(CLEAN.verdicts)
