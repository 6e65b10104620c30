"""kubectl and Pods: exec, logs, proxy, port-forward, restart and termination, on each node pool's nodes.

Each check creates its own Pod and removes it. A refusal by a channel counts only if the same channel works
with a Pod that has to answer.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, flow, pods

WINDOWS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Command line options for the kubelet; Pods",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
DEBUG = Source(
    document="Kubernetes documentation, Debug Running Pods",
    section="Examining pod logs; Debugging with container exec",
    address="https://kubernetes.io/docs/tasks/debug/debug-application/debug-running-pod/",
)
FORWARD = Source(
    document="Kubernetes documentation, Use Port Forwarding to Access Applications in a Cluster",
    section="Forward a local port to a port on the Pod",
    address="https://kubernetes.io/docs/tasks/access-application-cluster/port-forward-access-application-cluster/",
)
SANDBOX = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Pause container",
    address="https://kubernetes.io/docs/concepts/windows/intro/#pause-container",
)
GRACE = Source(
    document="Kubernetes documentation, Pod Lifecycle",
    section="Termination of Pods",
    address="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination",
)

ATTACH = Source(
    document="Kubernetes documentation, kubectl attach",
    section="Synopsis",
    address="https://kubernetes.io/docs/reference/kubectl/generated/kubectl_attach/",
)

PORT = str(pods.HTTP)
NAMED = pods.pod(pods.server(), hostname="witness")
SECONDS = "10"
"""Twice the five seconds that Windows leaves to processes under Docker, whatever their Pod says."""
GRACIOUS = pods.pod(
    pods.server(args=[*pods.SERVER, f"--delay-shutdown={SECONDS}"]),
    terminationGracePeriodSeconds=30,
)
UNREADABLE = "/nothing"
TALKING = pods.pod(
    pods.container("first", "mounttest", f"--file_content_in_loop={UNREADABLE}", "--retry_time=300")
)
"""A Pod whose container says every other second that a file is not there."""
ENDING = pods.pod(pods.server(), restartPolicy="Always")


@flow(
    "kubectl-to-pod",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(
        pods.after("exec", NAMED, "exec", "hostname", says="witness"),
        pods.after("logs", NAMED, "log", says=f"Started HTTP server on port {PORT}"),
        pods.after("proxy", NAMED, "pod-proxy", PORT, "/hostname", says="witness", counter=NAMED),
    ),
    facts=("exec-works",),
    sources=(DEBUG, WINDOWS),
)
def test_kubectl_to_pod() -> None:
    """exec runs a process in a Pod, logs show what it wrote, and the API server proxies to it."""


@flow(
    "pod-attach",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(pods.after("attach", TALKING, "attach", says=f"reading file {UNREADABLE}"),),
    check_class=CheckClass.COSTLY,
    facts=("exec-works",),
    sources=(ATTACH, WINDOWS),
)
def test_pod_attach() -> None:
    """A client attached to a container receives what it writes from then on."""


@flow(
    "pod-port-forward",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(
        pods.after("http", NAMED, "port-forward", PORT, "/hostname", says="witness", counter=NAMED),
        pods.after(
            "loopback",
            pods.pod(pods.sender("127.0.0.1")),
            "port-read",
            PORT,
            says=pods.SENT,
            counter=pods.pod(pods.sender(pods.EVERYWHERE)),
        ),
    ),
    facts=("pf-introduced", "pf-wincat", "pf-dial"),
    sources=(FORWARD,),
)
def test_pod_port_forward() -> None:
    """A forwarded port reaches listeners in the Pod, even those on its loopback address only."""


@flow(
    "pod-restart",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(pods.after("address", ENDING, "restart", PORT, "/exit?code=0"),),
    facts=("pause-holds-network",),
    sources=(SANDBOX,),
)
def test_pod_restart() -> None:
    """A Pod keeps its address when one of its containers is restarted: the pause container holds it."""


@flow(
    "pod-termination",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(pods.terminates("grace-period", GRACIOUS, seconds=SECONDS),),
    facts=("term-grace",),
    sources=(GRACE, WINDOWS),
)
def test_pod_termination() -> None:
    """A deleted Pod is told to end, and may take its time within its grace period."""
