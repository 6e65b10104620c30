"""What CronJobs want of the lab: a Job at each moment of their schedule, and a history that ends."""

from datetime import UTC, datetime
from typing import Any

import pytest

from nettests.lab.controllers.jobs import reconcile_cron_job

Json = dict[str, Any]


def at(text: str) -> datetime:
    """Return a moment of Thursday, 26 November 2026."""
    return datetime.fromisoformat(f"2026-11-26T{text}+00:00").astimezone(UTC)


def cron_job(schedule: str = "* * * * *", *, last: str = "", **spec: Any) -> Json:
    """Return a CronJob that was made at 02:30:40."""
    template = {"metadata": {"labels": {"run": "1"}}, "spec": {"template": {"spec": {}}}}
    return {
        "metadata": {
            "name": "c",
            "namespace": "ns",
            "uid": "u",
            "creationTimestamp": "2026-11-26T02:30:40Z",
        },
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
        "status": {"lastScheduleTime": f"2026-11-26T{last}Z"} if last else {},
    }


def job(name: str, kind: str = "") -> Json:
    """Return a Job of it, over if it has a condition of that ``kind``."""
    owner = {"uid": "u", "controller": True}
    metadata = {"name": name, "namespace": "ns", "uid": name, "ownerReferences": [owner]}
    conditions = [{"type": kind, "status": "True"}] if kind else []
    return {"metadata": metadata, "status": {"conditions": conditions}}


def test_the_first_job_comes_at_the_next_minute() -> None:
    """Not at the moment of its creation; it is looked at again when the minute is over."""
    early = reconcile_cron_job(cron_job(), [], at("02:30:50"))
    assert (early.create, early.seconds) == (None, 10)
    due = reconcile_cron_job(cron_job(), [], at("02:31:00.25"))
    assert due.create is not None
    assert due.create["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    assert due.create["metadata"]["ownerReferences"][0]["apiVersion"] == "batch/v1"
    assert due.create["metadata"]["labels"] == {"run": "1"}
    assert due.status["lastScheduleTime"] == "2026-11-26T02:31:00Z"
    assert due.seconds == 59.75
    again = reconcile_cron_job(cron_job(last="02:31:00"), [], at("02:31:05"))
    assert again.create is None


def test_a_job_is_named_after_its_moment_so_that_none_is_made_twice() -> None:
    """Two looks at one moment want one name."""
    names = {
        reconcile_cron_job(cron_job(), [], at(text)).create["metadata"]["name"]  # type: ignore[index]
        for text in ("02:31:00", "02:31:59")
    }
    assert len(names) == 1


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("*/5 * * * *", "02:45:00"),
        ("46 * * * *", "02:46:00"),
        ("40-44 2 * * *", "02:44:00"),
        ("10,32 * * * *", "02:32:00"),
        ("* * 26 11 *", "02:47:00"),
        ("* * * * 4", "02:47:00"),
        ("* * 1 * 4", "02:47:00"),
        ("* * * * 1-3", None),
        ("48 * * * *", None),
        ("@daily", None),
    ],
)
def test_of_moments_that_were_missed_the_last_one_counts(
    schedule: str, expected: str | None
) -> None:
    """Each of five fields may be everything, a step, a number, a span or a list; day or day of the week is enough."""
    due = reconcile_cron_job(cron_job(schedule), [], at("02:47:30"))
    told = due.status.get("lastScheduleTime")
    assert told == (f"2026-11-26T{expected}Z" if expected else None)


@pytest.mark.parametrize(("policy", "comes"), [("Allow", True), ("Forbid", False)])
def test_a_job_that_is_not_over_may_hold_the_next_one(policy: str, *, comes: bool) -> None:
    """That one is named in the status."""
    item = cron_job(concurrencyPolicy=policy)
    due = reconcile_cron_job(item, [job("one")], at("02:31:00"))
    assert (due.create is not None) is comes
    assert [one["name"] for one in due.status["active"]] == ["one"]
    assert reconcile_cron_job(item, [job("one", "Complete")], at("02:31:00")).create is not None


def test_a_suspended_one_makes_no_job() -> None:
    """Whatever its schedule says."""
    assert reconcile_cron_job(cron_job(suspend=True), [], at("02:31:00")).create is None


def test_jobs_that_ended_are_kept_up_to_a_limit() -> None:
    """The oldest ones go, those that succeeded and those that failed each by their own limit."""
    ended = [job(f"c-{n}", "Complete") for n in range(3)] + [job("c-8", "Failed"), job("c-9")]
    item = cron_job(successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0)
    due = reconcile_cron_job(item, [*ended, job("c-5", "Complete") | {"metadata": {"name": "other"}}], at("02:30:50"))  # fmt: skip
    assert [one["metadata"]["name"] for one in due.delete] == ["c-0", "c-1", "c-8"]


@pytest.mark.parametrize("schedule", ["0 0 * * MON", "@weekly"])
def test_a_schedule_that_the_lab_cannot_read_never_comes(schedule: str) -> None:
    """It is told, as the CronJob controller does; the lab goes on."""
    due = reconcile_cron_job(cron_job(schedule), [job("c-1", "Complete")], at("02:35:00"))
    assert due.create is None
    assert due.problem.startswith(f'unparseable schedule: "{schedule}"')
    assert not reconcile_cron_job(cron_job(), [], at("02:35:00")).problem
