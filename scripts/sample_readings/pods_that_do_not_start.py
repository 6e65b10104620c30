"""Pods that do not start, by their status and events, and objects that are refused, read as a run reads them."""

import csv
import json
import re
from dataclasses import replace
from typing import Any

from nettests.cluster.failures import Answer, ApiError, failure
from nettests.cluster.wait import STUCK
from nettests.judge.advice import after_distrust
from nettests.judge.distrust import not_created, not_started
from nettests.model.pod_problem import problem_of, reason_of
from nettests.parse import start
from scripts.sample_readings.sample import Read, Sample
from scripts.sample_readings.windows import RAW


def _matching(text: str, sample: Sample) -> Read:
    return Read(text=text, right=re.search(sample.expected, text, re.IGNORECASE) is not None)


def _file(sample: Sample) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(sample.text)
    return content


def _problem(sample: Sample) -> str:
    """Return what a run says of the object: of a Pod that is not Ready, or of one that was not created."""
    content = _file(sample)
    if "pod" not in content:
        return f"Pod probe-windows-1-1 was not created: {_refused(sample).message}"
    name = content["pod"]["metadata"]["name"]
    return f"pod {name} is not Ready: {problem_of(content['pod'], content['events'])}"


def _refused(sample: Sample) -> ApiError:
    """Return the API server's refusal as the user sees it; a file with a message alone is a Namespace that is refused."""
    content = _file(sample)
    body = content.get("body") or json.dumps({"message": content["message"], "reason": "Forbidden"})
    path = "/api/v1/namespaces/nettests-x/pods" if "body" in content else "/api/v1/namespaces"
    answer = Answer(status=content.get("status", 403), body=body.encode())
    return failure("POST", path, answer, "https://api:6443", "context")


def _of_waiting(sample: Sample) -> Read:
    return _matching(_problem(sample), sample)


def _of_its_own(sample: Sample) -> Read:
    content = _file(sample)
    raw = replace(RAW, tool="start", context={})
    return _matching(start.not_started(content["pod"]["status"], content["events"], raw).detail, sample)  # fmt: skip


def _stuck(sample: Sample) -> str:
    reason = reason_of(_file(sample)["pod"])
    return reason if reason in STUCK else f"{reason or 'nothing'}, which is waited for"


def _title(sample: Sample) -> Read:
    """Read the incident's title, which has to say the cause that is due of the same Pod's problem."""
    cause = not_started(_problem(sample))
    title = cause.reason if cause else "nothing"
    with (sample.folder / "index.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        causes = [
            row["expected"]
            for row in rows
            if (row["file"], row["reading"]) == (sample.file, "wait.problem_of")
        ]
    return Read(text=title, right=any(re.search(cause, title, re.IGNORECASE) for cause in causes))


def _who_refused(sample: Sample) -> Read:
    refusal = not_created(_problem(sample))
    return _matching(refusal.why if refusal else "nothing", sample)


def _hint(sample: Sample) -> Read:
    """Read the next step: of admission, it is theirs, and never RBAC's."""
    hint = _refused(sample).hint
    by_rbac = "manifests/rbac" in hint
    if sample.expected.startswith("not "):
        return Read(text=hint, right=bool(hint) and not by_rbac)
    return Read(text=hint, right=re.search(r"webhook|polic", hint) is not None and not by_rbac)


READINGS = {
    "wait.problem_of": _of_waiting,
    "wait.reason_of in STUCK": _stuck,
    "parse.start.not_started": _of_its_own,
    "advice.after_distrust": lambda sample: _matching(after_distrust(_problem(sample)), sample),
    "judge.not_started.not_started.reason*": _title,
    "judge.not_started.not_created": _who_refused,
    "deploy problem text": _of_waiting,
    "failures.failure*": _hint,
}
