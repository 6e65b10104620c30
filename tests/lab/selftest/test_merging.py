"""What a later selftest found takes the place of what was published of the same faults, and of nothing else."""

from dataclasses import replace

from nettests.lab.selftest.judging import judge
from nettests.lab.selftest.matrix import Matrix, Profile
from scripts.selftest_page import merged
from tests.lab.selftest.made import HEALTHY, PROFILE, fault, run

FIRST, SECOND, THIRD = (fault(name=name) for name in ("first", "second", "third"))
GONE = fault(name="gone")


def matrix(*faults: str, seconds: float = 30, **changes: object) -> Matrix:
    """Return a matrix in which these faults were detected beside a healthy run of so many seconds."""
    healthy = replace(HEALTHY, seconds=seconds)
    made = Matrix(
        profiles=(Profile(name=PROFILE, seconds=seconds),),
        flows=("dns-via-service", "pod-to-pod-ip"),
        judged=tuple(
            judge(fault(name=name), PROFILE, healthy, run("pod-to-pod-ip/a")) for name in faults
        ),
        summaries={},
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_last_run_of_each_declared_fault_is_kept() -> None:
    """In the order of declarations; what is not declared any more goes, what was never run is missing."""
    found = merged(
        matrix("gone", "second", "first"), matrix("second", seconds=20), (FIRST, SECOND, THIRD)
    )
    assert [(one.fault, one.ran) for one in found.judged] == [
        ("first", True),
        ("second", True),
        ("third", False),
    ]
    assert [found.ratio(one) for one in found.judged] == [2.0, 3.0, None]
    assert found.profiles == (Profile(name=PROFILE, seconds=20),)
    assert found.summaries["third"] == THIRD.summary


def test_what_a_later_selftest_did_not_reach_stays() -> None:
    """A row that was not run there replaces no run."""
    later = matrix("second")
    skipped = replace(later.judged[0], fault="first", ran=False)
    later = replace(later, judged=(skipped, *later.judged))
    assert all(one.ran for one in merged(matrix("first"), later, (FIRST, SECOND)).judged)


def test_a_flow_is_open_where_both_leave_it_open() -> None:
    """A document of former days says nothing of open flows, one that names others says that this one is none."""
    later = matrix("first", open={"dns-via-service": ("free",)})
    assert merged(matrix("first"), later, (FIRST,)).open == {"dns-via-service": ("free",)}
    other = matrix("first", open={"taint": ("convention",)}, flows=("dns-via-service", "taint"))
    assert merged(other, later, (FIRST,)).open == {"taint": ("convention",)}
