"""Deploy what a plan needs: the first stage of a run, and of other commands that need Pods.

The created objects belong to a ``Holding``, which removes them. Observes nothing.
"""

from collections.abc import Callable

from nettests import probes
from nettests.cluster.access import Access
from nettests.model.check import Plan
from nettests.model.journal_records import Pulled
from nettests.session.course import Course
from nettests.session.holding import Holding
from nettests.session.journal import Journal
from nettests.session.prepare import Prepared, blank_of
from nettests.session.standing import Standing


def deploy(
    prepared: Prepared,
    plan: Plan,
    holding: Holding,
    *,
    lost: Callable[[str], None],
    pull: Callable[[Access, probes.Blank], None] = lambda _access, _blank: None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Standing:
    """Deploy what a plan needs; ``NettestsError`` if the cluster refuses it.

    ``lost`` is called if another run takes the namespace; ``pull`` before any probe is created.
    """
    facts, profile = prepared.blueprint.facts, prepared.profile
    access, marks = holding.begin(touches=probes.in_cluster(plan))
    blank = blank_of(marks.labels, profile, facts, holding.namespace)
    deployment = probes.deploy(
        access,
        plan,
        facts,
        blank=blank,
        timing=profile.timing,
        on_namespace=lambda: holding.guard(marks, lost),
        pull=lambda: pull(access, blank),
        on_progress=on_progress,
    )
    return Standing(access=access, blank=blank, deployment=deployment)


def deploy_and_pull(
    prepared: Prepared, plan: Plan, holding: Holding, course: Course, journal: Journal
) -> Standing:
    """Deploy for a run, with progress and events; pull images first if the options say so."""

    def pull(access: Access, blank: probes.Blank) -> None:
        if not blank.images.pre_pull or not probes.in_cluster(plan):
            return
        for image in probes.pull_images(
            access,
            plan,
            prepared.blueprint.facts,
            blank=blank,
            timing=prepared.profile.timing,
            on_progress=lambda done, total: course.coming_up("pull", done, total),
        ):
            journal.write(Pulled(pull=image))
            if image.problem:
                journal.event(f"{image.image} did not come to {image.node}: {image.problem}")

    standing = deploy(
        prepared,
        plan,
        holding,
        lost=course.lost,
        pull=pull,
        on_progress=lambda done, total: course.coming_up("deploy", done, total),
    )
    for remark in standing.deployment.remarks:
        journal.event(remark)
    return standing
