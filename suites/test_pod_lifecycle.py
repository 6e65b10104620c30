"""How containers live and end: probes that restart them, hooks before their end, and what their Pod's status shows.

Costly, except for the variables: each check creates its own Pod and removes it. A failure counts only if a plain
Pod starts on the same node.
"""

from nettests.model.expectation import Source
from nettests.model.words import OS, CheckClass, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, ServiceSettings, flow, pods

PROBES = Source(
    document="Kubernetes documentation, Liveness, Readiness, and Startup Probes",
    section="Types of probe",
    address="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-probes",
)
HOOKS = Source(
    document="Kubernetes documentation, Container Lifecycle Hooks",
    section="Container hooks",
    address="https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/",
)
MESSAGES = Source(
    document="Kubernetes documentation, Determine the Reason for Pod Failure",
    section="Writing and reading a termination message",
    address="https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/",
)
WINDOWS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Compatibility and limitations",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
VARIABLES_DOCUMENT = Source(
    document="Kubernetes documentation, Service",
    section="Environment variables",
    address="https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables",
)

LOCAL = f"127.0.0.1:{pods.HTTP}"
AT_ONCE = {"periodSeconds": 1, "timeoutSeconds": 5, "failureThreshold": 1}
NOBODY = {"exec": {"command": ["/agnhost", "connect", "--timeout=3s", "127.0.0.1:9"]}, **AT_ONCE}
"""A probe that fails: nothing listens at that port."""
SOMEBODY = {
    "exec": {"command": ["/agnhost", "connect", "--timeout=3s", LOCAL]},
    **AT_ONCE,
    "failureThreshold": 30,
}
SECONDS = 6
"""Every second reading of a file that is not there comes two seconds after the last one: so long takes the hook."""
WAITS = ["/agnhost", "mounttest", "--file_content_in_loop=/nothing", f"--retry_time={SECONDS}"]
CODE = "7"

PROBED = (
    pods.restarts("liveness", pods.server(livenessProbe=NOBODY), says="Liveness probe failed"),
    pods.restarts("startup", pods.server(startupProbe=NOBODY), says="Startup probe failed"),
    pods.starts("all-pass", pods.pod(pods.server(startupProbe=SOMEBODY, livenessProbe=SOMEBODY))),
)
BEFORE_THE_END = (
    pods.after(
        "exec",
        pods.pod(
            pods.server(lifecycle={"preStop": {"exec": {"command": WAITS}}}),
            terminationGracePeriodSeconds=30,
        ),
        "end",
        says=str(SECONDS - 1),
    ),
)
WRITTEN = (
    pods.ends_with_message(
        "default-path", "mounttest", "--new_file_0644=/dev/termination-log", says=pods.NEW_FILE
    ),
)
CODES = tuple(
    pods.ends_with_code("own-code", *words, code=CODE, os=system)
    for system, words in (
        (OS.LINUX, ("sh", "-c", f"exit {CODE}")),
        (OS.WINDOWS, ("cmd", "/c", f"exit {CODE}")),
    )
)
LINKED = tuple(
    pods.after(
        "own-service",
        pods.pod(enableServiceLinks=True),
        "exec",
        *words,
        says=f"{pods.SERVICE_VARIABLE}_SERVICE_HOST={pods.SERVICE_ADDRESS}",
        whole_line=True,
        os=system,
    )
    for system, words in ((OS.LINUX, ("env",)), (OS.WINDOWS, ("cmd", "/c", "set")))
)


@flow(
    "pod-restarting-probes",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=PROBED,
    check_class=CheckClass.COSTLY,
    facts=("flow-kubelet-probes",),
    sources=(PROBES,),
)
def test_pod_restarting_probes() -> None:
    """A container whose liveness or startup probe fails is restarted; one whose probes pass starts."""


@flow(
    "pod-hook-other-node",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.ELSEWHERE,
    question=Question.START,
    cases=(pods.probing("http-hook"),),
    check_class=CheckClass.COSTLY,
    facts=("flow-lifecycle-http-hook-remote",),
    sources=(HOOKS,),
)
def test_pod_hook_other_node() -> None:
    """A Pod whose postStart hook sends a request to a server on another node starts."""


@flow(
    "pod-pre-stop-hook",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=BEFORE_THE_END,
    check_class=CheckClass.COSTLY,
    facts=("term-grace",),
    sources=(HOOKS, WINDOWS),
)
def test_pod_pre_stop_hook() -> None:
    """A Pod that is deleted ends once its preStop hook has ended, within its grace period."""


@flow(
    "pod-termination-message",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=WRITTEN,
    check_class=CheckClass.COSTLY,
    facts=("term-message-path",),
    sources=(MESSAGES, WINDOWS),
)
def test_pod_termination_message() -> None:
    """What a container writes to its terminationMessagePath is in its Pod's status once it has ended."""


@flow(
    "pod-exit-code",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=CODES,
    check_class=CheckClass.COSTLY,
    facts=("pod-exit-codes",),
    sources=(MESSAGES, WINDOWS),
)
def test_pod_exit_code() -> None:
    """A Pod's status shows the exit code of the program that its container ran."""


@flow(
    "pod-service-links",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=LINKED,
    service=ServiceSettings(label="linked", no_endpoints=True),
    facts=("svc-headless-env",),
    sources=(VARIABLES_DOCUMENT,),
)
def test_pod_service_links() -> None:
    """A pod's environment has the addresses of the Services of its namespace that existed before it."""
