"""Who answers which question without a path in a run: one examiner for each ``Question``."""

from nettests.model.facts import ClusterFacts
from nettests.model.words import Question
from nettests.probes.examine import Admission, Examiner
from nettests.probes.inspect import Inspection
from nettests.probes.seams import ApiServer


def examiners(api: ApiServer, namespace: str, facts: ClusterFacts) -> dict[Question, Examiner]:
    """Return who asks the questions without a path in a run."""
    return {
        Question.ADMIT: Admission(api=api, namespace=namespace),
        Question.INSPECT: Inspection(api=api, facts=facts),
    }
