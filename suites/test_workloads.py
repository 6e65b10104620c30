"""Objects that create Pods: DaemonSets, Deployments, Jobs and CronJobs run theirs on nodes of either system.

Costly: each check creates its own object and removes it with its Pods; a CronJob waits for the next minute. A failure
counts only if a plain Pod starts on the same node.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Question, TargetKind, VantageKind
from nettests.model.workload import MAKES, ROLLS_OUT, Workload
from nettests.plan import Matrix, Members, flow, pods

WINDOWS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Compatibility and limitations",
    address="https://kubernetes.io/docs/concepts/windows/intro/#compatibility-linux-similarities",
)
DAEMONS = Source(
    document="Kubernetes documentation, DaemonSet",
    section="Running Pods on select Nodes",
    address="https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
)
ROLLING = Source(
    document="Kubernetes documentation, Deployments",
    section="Rolling Update Deployment",
    address="https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment",
)
JOBS = Source(
    document="Kubernetes documentation, Jobs",
    section="Running an example Job",
    address="https://kubernetes.io/docs/concepts/workloads/controllers/job/",
)
CRON_JOBS = Source(
    document="Kubernetes documentation, CronJob",
    section="Writing a CronJob spec",
    address="https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/",
)

SERVING = pods.pod(pods.server())
ENDING = pods.pod(pods.container("first", "help"))
"""A Pod whose container says how it is used, and ends well."""


@flow(
    "daemon-set-pod",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(pods.worked("daemon-set", Workload.DAEMON_SET, SERVING, MAKES),),
    check_class=CheckClass.COSTLY,
    facts=("plat-workloads",),
    sources=(WINDOWS, DAEMONS),
)
def test_daemon_set_pod() -> None:
    """A DaemonSet that selects a node has a Pod there that starts, and its status shows it."""


@flow(
    "deployment-rollout",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(pods.worked("rolling-update", Workload.DEPLOYMENT, SERVING, ROLLS_OUT),),
    check_class=CheckClass.COSTLY,
    facts=("plat-workloads",),
    sources=(WINDOWS, ROLLING),
)
def test_deployment_rollout() -> None:
    """A Deployment whose template changes replaces its Pod, and the old or the new one is Ready at each moment."""


@flow(
    "job-completion",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(pods.worked("job", Workload.JOB, ENDING, MAKES),),
    check_class=CheckClass.COSTLY,
    facts=("plat-workloads",),
    sources=(WINDOWS, JOBS),
)
def test_job_completion() -> None:
    """A Job whose container succeeds is complete."""


@flow(
    "cron-job-schedule",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(pods.worked("cron-job", Workload.CRON_JOB, ENDING, MAKES),),
    check_class=CheckClass.COSTLY,
    facts=("plat-workloads",),
    sources=(WINDOWS, CRON_JOBS),
)
def test_cron_job_schedule() -> None:
    """A CronJob that runs every minute creates a Job at the next one, whose Pod succeeds."""
