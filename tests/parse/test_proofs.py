"""What an answer to a positive control has to show, for each kind of target."""

from dataclasses import replace

import pytest

from nettests.model.words import Question, TargetKind
from nettests.parse.read import proves
from tests.parse.raws import raw
from tests.parse.test_resent import check

ANSWERED = raw("dial", status=200, stdout='{"responses":["server-1"]}')
DENIED = raw(
    "nslookup",
    exit_code=1,
    stdout="Server:\t10.96.0.10\n\n** server can't find x.y: NXDOMAIN\n",
)
FAILED = replace(ANSWERED, error="HTTP 500")


@pytest.mark.parametrize(
    ("kind", "answer", "shown"),
    [
        (TargetKind.POD_IP, "answered", True),
        (TargetKind.POD_IP, "failed", False),
        (TargetKind.POD_IP, "denied", False),
        (TargetKind.NO_NAME, "denied", True),
    ],
)
def test_a_denial_shows_the_server_of_a_name_that_nothing_has(
    kind: TargetKind, answer: str, *, shown: bool
) -> None:
    """A name that nothing has is shown by NXDOMAIN; every other target has to answer, over a channel that works."""
    action = check(kind=kind).action
    if answer == "denied":
        action = replace(action, question=Question.RESOLVE)
    told = {"answered": ANSWERED, "denied": DENIED, "failed": FAILED}[answer]
    assert proves(told, action) is shown


def test_a_name_is_shown_by_what_it_resolved_to() -> None:
    """Where only the name is in question, a server that refuses shows it as well as one that answers."""
    action = replace(check(kind=TargetKind.SERVICE_FQDN).action, question=Question.RESOLVE)
    body = '{"errors":["dial tcp 10.0.0.1:80: connect: connection refused"]}'
    refused = replace(ANSWERED, stdout=body)
    assert proves(refused, action)
    assert not proves(refused, replace(action, question=Question.REACH))
