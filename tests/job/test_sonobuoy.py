"""The plugin's definition as Sonobuoy reads it, and how far a run is."""

import sys
from typing import Any

import pytest

from nettests.job.sonobuoy import FAILURES, Progress, definition
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from tests.ci.test_schemas import unknown_fields

CONFIG = {
    *("driver", "plugin-name", "skip-cleanup", "result-format", "result-files"),
    *("description", "source-url", "order"),
}
"""What Sonobuoy's ``SonobuoyConfig`` has."""
TOP = {"sonobuoy-config", "spec", "extra-volumes", "podSpec", "config-map"}


def mistakes_of(plugin: dict[str, Any]) -> list[str]:
    """What Sonobuoy, or Kubernetes with what Sonobuoy makes of it, would refuse."""
    config, spec, pod = plugin["sonobuoy-config"], plugin["spec"], plugin["podSpec"]
    found = [f"unknown field {key}" for key in plugin.keys() - TOP]
    found += [f"unknown field {key}" for key in config.keys() - CONFIG]
    found += [f"no {key}" for key in ("driver", "plugin-name") if not config.get(key)]
    if config["driver"] not in {"Job", "DaemonSet"}:
        found.append(f"driver {config['driver']}")
    if config["result-format"] not in {"junit", "raw", "gojson", "manual"}:
        found.append(f"result-format {config['result-format']}")
    found += unknown_fields(spec, "V1Container", "spec")
    found += unknown_fields(pod, "V1PodSpec", "podSpec")
    # Sonobuoy adds this volume, and the container that delivers what is in it.
    mounts = [one["mountPath"] for one in spec["volumeMounts"] if one["name"] == "results"]
    if mounts != ["/tmp/sonobuoy/results"]:
        found.append(f"results at {mounts}")
    return found


def test_sonobuoy_accepts_the_definition() -> None:
    """Its own fields, a container and a Pod's spec of Kubernetes, and the results where its worker looks."""
    plugin = definition("registry.example/nettests:0.1.0", ("--enable=costly",))
    assert mistakes_of(plugin) == []
    assert plugin["spec"]["args"] == ["sonobuoy", "run", "--", "--enable=costly"]
    assert definition("x", ())["spec"]["args"] == ["sonobuoy", "run"]


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        ("sonobuoy-config", "driver", "Deployment"),
        ("sonobuoy-config", "result-type", "junit"),
        ("sonobuoy-config", "result-format", "xml"),
        ("spec", "imagePolicy", "Always"),
        ("podSpec", "nodeselector", {}),
        ("spec", "volumeMounts", [{"name": "results", "mountPath": "/results"}]),
    ],
)
def test_a_mistake_is_found(place: str, key: str, value: Any) -> None:
    """The check of the definition can fail."""
    plugin = definition("x", ())
    plugin[place][key] = value
    assert mistakes_of(plugin)


def test_the_plugin_stands_on_linux_nodes_with_sonobuoys_account() -> None:
    """The aggregator makes that account, and gives it the rights of a cluster's administrator by default."""
    spec = definition("x", ())["podSpec"]
    assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert spec["serviceAccountName"] == "sonobuoy-serviceaccount"
    assert "V1PodSpec" in dir(sys.modules["kubernetes.client.models"])


def judged(number: int, verdict: Verdict) -> Judgement:
    return Judgement(check=f"flow/{number}", verdict=verdict, message="", expected="", observed="")


def test_an_update_counts_what_is_judged() -> None:
    """Total, completed, verdicts in words, and the red ones by name."""
    progress = Progress(total=3)
    assert progress.update() == {"msg": "deploying probes", "total": 3, "completed": 0}
    progress.add(judged(1, Verdict.PASS))
    progress.add(judged(2, Verdict.PASS))
    progress.add(judged(3, Verdict.FAIL))
    assert progress.update() == {
        "msg": "2 pass, 1 fail",
        "total": 3,
        "completed": 3,
        "failures": ["flow/3"],
    }


def test_an_update_is_bounded() -> None:
    """The aggregator keeps updates in an annotation: the first red checks are named, the others counted."""
    progress = Progress(total=400)
    for number in range(400):
        progress.add(judged(number, Verdict.UNKNOWN))
    failures = progress.update()["failures"]
    assert len(failures) == FAILURES + 1
    assert failures[-1] == "… and 350 more"
