"""Read the result of an inspection: its rule decides whether the configuration conforms.

The recorded text is a JSON object with ``readings`` (each reduced to what rules use) and
``problems`` (why a reading failed); ``context`` names the rule and holds the facts. What cannot be
parsed is ``probe_failed``, never ``conforms``.
"""

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.rules import RULES, Evidence, UnreadableError

RULE = "rule"


def read(raw: Raw) -> Reading:
    """Read one inspection."""
    rule = RULES.get(raw.context.get(RULE, ""))
    if rule is None:
        return probe_failed(f"no such rule: {raw.context.get(RULE, 'none')}")
    # sample: {"readings": {"node": "{\"kind\":\"Node\",…}"}, "problems": {"kube-proxy-log": "status 403"}}
    try:
        recorded = read_json(raw.stdout)
        evidence = Evidence(
            texts=dict(recorded["readings"]),
            problems=dict(recorded["problems"]),
            facts={name: value for name, value in raw.context.items() if name != RULE},
        )
    except (ValueError, KeyError, TypeError):
        return probe_failed(f"the inspection recorded no readings: {raw.stdout}")
    try:
        finding = rule.demand(evidence)
    except UnreadableError as error:
        # A failed reading has no text that a parser could fail to understand.
        return (probe_failed if evidence.problems else not_understood)(error.message)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return not_understood(f"the readings do not have the expected form: {error!r}")
    outcome = Outcome.CONFORMS if finding.conforms else Outcome.DEVIATES
    return Reading(outcome=outcome, detail=one_line(finding.detail))
