"""Dry runs: in which namespace an object is tried out, and when a level of Pod Security can be believed."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.model.check import Action, Target
from nettests.model.words import Outcome, Protocol, Question, TargetKind, VantageKind
from nettests.plan import cases
from nettests.plan.node_pools import api_vantage
from nettests.probes.examine import Admission

REFUSED = (403, '{"message": "violates PodSecurity \\"restricted:latest\\": host namespaces"}')
TAKEN = (201, '{"kind": "Pod"}')
CASE = cases.in_level(
    "fits", cases.pod(), Outcome.ACCEPTED, level="restricted", counter=cases.pod()
)


@dataclass(slots=True)
class Server:
    """An API server that treats Pods of the host's network in its own way, and takes all others."""

    host: tuple[int, str]
    classes: tuple[int, str] | None = None
    probed: list[dict[str, Any]] = field(default_factory=list)

    def dry_run(self, item: dict[str, Any]) -> tuple[int, str]:
        self.probed.append(item)
        return self.host if item["spec"].get("hostNetwork") else TAKEN

    def read(self, path: str, query: Any) -> tuple[int, str]:
        """Return RuntimeClasses, where the test has some: other dry runs read nothing."""
        assert self.classes, path
        return self.classes


ASK = Action(
    source=api_vantage(None),
    target=Target(kind=TargetKind.API_SERVER),
    protocol=Protocol.TCP,
    question=Question.ADMIT,
    case=CASE,
)


def test_a_level_is_run_in_its_own_namespace() -> None:
    """The Pod is sent as it stands to the namespace of that level, and the answer is read by the level."""
    assert ASK.source.kind is VantageKind.API
    server = Server(host=REFUSED)
    found = Admission(api=server, namespace="nettests-r").examine(ASK)
    assert [item["metadata"]["namespace"] for item in server.probed] == [
        "nettests-r-restricted"
    ] * 2
    assert server.probed[-1]["spec"] == json.loads(CASE.object)["spec"]
    assert (found.status, found.error, found.context) == (201, None, {"level": "restricted"})


def test_what_a_quota_may_demand_is_stated() -> None:
    """In a namespace with a quota of cpu or memory no dry run is refused for want of a request."""
    own = {"limits": {"memory": "64Mi"}}
    item = cases.pod()
    item["spec"]["initContainers"] = [{"name": "own", "image": "i", "resources": own}]
    server = Server(host=REFUSED)
    case = replace(CASE, level="", object=json.dumps(item))
    Admission(api=server, namespace="staging").examine(replace(ASK, case=case))
    spec = server.probed[0]["spec"]
    assert spec["initContainers"][0]["resources"] == own
    (stated,) = [one["resources"] for one in spec["containers"]]
    assert {kind: set(amounts) for kind, amounts in stated.items()} == {
        "requests": {"cpu", "memory"},
        "limits": {"cpu", "memory"},
    }


def test_a_level_that_nothing_enforces_says_nothing() -> None:
    """Where a hostNetwork Pod is taken, an acceptance would prove nothing, so the Pod is not sent."""
    server = Server(host=TAKEN)
    found = Admission(api=server, namespace="nettests-r").examine(ASK)
    assert len(server.probed) == 1
    assert found.status is None
    assert "enforces nothing in namespace nettests-r-restricted" in (found.error or "")


STEERED = replace(ASK, case=cases.steered("scheduling", cases.unplaced()))
SCHEDULING = {"nodeSelector": {"kubernetes.io/os": "windows"}}
CLASS = {"metadata": {"name": "b"}, "scheduling": SCHEDULING}


def test_a_class_that_steers_is_named_and_told() -> None:
    """The first by name; what it says goes into the journal beside the answer."""
    server = Server(host=TAKEN, classes=(200, json.dumps({"items": [CLASS]})))
    probing = Admission(api=server, namespace="nettests-r", runtime_classes=("b", "c"))
    found = probing.examine(STEERED)
    assert server.probed[-1]["spec"]["runtimeClassName"] == "b"
    assert "nodeSelector" not in server.probed[-1]["spec"]
    assert json.loads(found.context["scheduling"]) == SCHEDULING
    assert json.loads(found.words[-1]) == server.probed[-1]


@pytest.mark.parametrize(
    ("answer", "said"), [((200, '{"items": []}'), "no longer there"), ((403, "no"), "status 403")]
)
def test_a_class_that_went_says_nothing(answer: tuple[int, str], said: str) -> None:
    """Then no Pod is sent."""
    server = Server(host=TAKEN, classes=answer)
    probing = Admission(api=server, namespace="nettests-r", runtime_classes=("b",))
    assert said in (probing.examine(STEERED).error or "")
    assert server.probed == []


FORBIDDEN = {
    "hostPID": cases.rejected("hostPID", cases.pod(hostPID=True), field="spec.hostPID"),
    "hostIPC": cases.rejected("hostIPC", cases.pod(hostIPC=True), field="spec.hostIPC"),
    "user": cases.rejected(
        "user",
        cases.with_container("containers", securityContext={"runAsUser": 1}),
        field="spec.containers[0].securityContext.runAsUser",
    ),
}


@dataclass(slots=True)
class Validates:
    """An API server that refuses a Pod for these fields of it, and says so of each."""

    fields: dict[str, str]
    probed: list[dict[str, Any]] = field(default_factory=list)

    def dry_run(self, item: dict[str, Any]) -> tuple[int, str]:
        self.probed.append(item)
        text = json.dumps(item)
        causes = [{"field": name} for word, name in self.fields.items() if f'"{word}"' in text]
        return (422, json.dumps({"details": {"causes": causes}})) if causes else TAKEN

    def read(self, path: str, query: Any) -> tuple[int, str]:
        """Nothing is read."""
        raise AssertionError(path)


def _examined(server: Any) -> dict[str, tuple[int | None, list[dict[str, Any]]]]:
    """Examine all cases as one run does; return each status, and the objects sent for it."""
    asked = {name: replace(ASK, case=case) for name, case in FORBIDDEN.items()}
    admission = Admission(api=server, namespace="n", planned=tuple(asked.values()))
    answers: dict[str, tuple[int | None, list[dict[str, Any]]]] = {}
    for name, action in asked.items():
        before = len(server.probed)
        answers[name] = admission.examine(action).status, server.probed[before:]
    return answers


def test_forbidden_fields_are_tried_in_one_pod() -> None:
    """Its refusal names each of them, so that no further dry run is needed."""
    server = Validates(
        {"hostPID": "spec.hostPID", "hostIPC": "spec.hostIPC", "runAsUser": FORBIDDEN["user"].field}
    )
    assert {status for status, _ in _examined(server).values()} == {422}
    (sent,) = server.probed
    assert sent["spec"]["hostPID"]
    assert sent["spec"]["hostIPC"]
    assert sent["spec"]["containers"][0]["securityContext"] == {"runAsUser": 1}


def test_a_field_that_a_common_refusal_does_not_name_is_tried_alone() -> None:
    """That others were refused says nothing of it."""
    server = Validates({"hostPID": "spec.hostPID"})
    answers = _examined(server)
    assert {name: status for name, (status, _) in answers.items()} == {
        "hostPID": 422,
        "hostIPC": 201,
        "user": 201,
    }
    ((alone,), (sole,)) = answers["hostIPC"][1], answers["user"][1]
    assert "hostPID" not in {*alone["spec"], *sole["spec"]}


def test_a_case_of_several_deviations_is_tried_alone() -> None:
    """A Pod that lacks the field which its refusal names differs from others in more than a field."""
    lacks = cases.rejected("lacks", cases.pod(hostIPC=True), field="spec.hostNetwork")
    server = Validates({"hostIPC": "spec.hostNetwork"})
    actions = tuple(replace(ASK, case=case) for case in (lacks, FORBIDDEN["hostPID"]))
    admission = Admission(api=server, namespace="n", planned=actions)
    assert [admission.examine(action).status for action in actions] == [422, 201]
    assert len(server.probed) == 2


ADMITTED = {
    "user": cases.accepted("user", cases.pod(None, securityContext={"runAsUser": 1})),
    "group": cases.accepted("group", cases.pod(None, securityContext={"fsGroup": 1})),
    **{
        name: cases.accepted(
            name, cases.with_container("containers", None, securityContext={name: value})
        )
        for name, value in {"privileged": True, "allowPrivilegeEscalation": False}.items()
    },
}


def _admitted(server: Any, planned: dict[str, Any]) -> dict[str, int | None]:
    actions = {name: replace(ASK, case=case) for name, case in planned.items()}
    admission = Admission(api=server, namespace="n", planned=tuple(actions.values()))
    return {name: admission.examine(action).status for name, action in actions.items()}


def test_admitted_contexts_are_tried_in_one_pod() -> None:
    """Containers that exclude each other stand beside each other, and one acceptance decides all."""
    server = Validates({})
    assert set(_admitted(server, ADMITTED).values()) == {201}
    (sent,) = server.probed
    assert sent["spec"]["securityContext"] == {"runAsUser": 1, "fsGroup": 1}
    containers = sent["spec"]["containers"]
    assert [container.get("securityContext") for container in containers] == [
        None,
        {"privileged": True},
        {"allowPrivilegeEscalation": False},
    ]
    assert len({container["name"] for container in containers}) == 3


def test_a_refused_pod_of_several_contexts_decides_none() -> None:
    """Each is tried alone, so that exactly the refused one deviates."""
    server = Validates({"fsGroup": "spec.securityContext.fsGroup"})
    assert _admitted(server, ADMITTED) == {
        name: 422 if name == "group" else 201 for name in ADMITTED
    }


def test_contexts_that_contradict_each_other_are_tried_apart() -> None:
    """One Pod cannot have both, and each is an object of its own."""
    other = cases.accepted("other", cases.pod(None, securityContext={"runAsUser": 2}))
    server = Validates({})
    _admitted(server, {"user": ADMITTED["user"], "other": other})
    contexts = [item["spec"]["securityContext"] for item in server.probed]
    assert contexts == [{"runAsUser": 1}, {"runAsUser": 2}]


def test_an_accepted_object_is_sent_once_and_a_refused_one_again() -> None:
    """The counter-case of many checks is one Pod; a refusal may be gone at the next try."""
    counter = replace(ADMITTED["user"], label="counter", outcome=None)
    server = Validates({})
    _admitted(server, {"one": counter, "two": replace(counter, label="again")})
    assert len(server.probed) == 1
    server = Validates({"runAsUser": "spec.securityContext.runAsUser"})
    _admitted(server, {"one": counter, "two": replace(counter, label="again")})
    assert len(server.probed) == 2
