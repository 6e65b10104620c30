"""Merge a later selftest into the published matrix, so that the page shows the last run of each fault. Pure."""

from collections.abc import Sequence

from nettests.lab.selftest.declared import NamedFault
from nettests.lab.selftest.judging import Judged, not_run
from nettests.lab.selftest.matrix import Matrix, Profile, summaries


def merged(published: Matrix, later: Matrix, declared: Sequence[NamedFault]) -> Matrix:
    """Return the last run of each fault that is declared, on each of its profiles, in the order of declarations.

    Each stays beside the healthy run that it was compared with; faults that neither has run are missing.
    """
    rows = {(row.fault, row.profile): row for row in (*published.ran, *later.ran)}
    names = dict.fromkeys(name for fault in declared for name in fault.profiles)
    return Matrix(
        profiles=_profiles(published, later),
        flows=tuple(sorted({*published.flows, *later.flows})),
        judged=tuple(
            _row(rows.get((fault.name, name)), fault, name)
            for name in names
            for fault in declared
            if name in fault.profiles
        ),
        summaries=summaries(declared),
        open={
            flow: limitations
            for flow, limitations in sorted({**published.open, **later.open}.items())
            if _is_open(flow, published) and _is_open(flow, later)
        },
    )


def _row(row: Judged | None, fault: NamedFault, profile: str) -> Judged:
    return row if row is not None else not_run(fault, profile)


def _profiles(published: Matrix, later: Matrix) -> tuple[Profile, ...]:
    newest = {profile.name: profile for profile in (*published.profiles, *later.profiles)}
    return tuple(newest.values())


def _is_open(flow: str, matrix: Matrix) -> bool:
    """Whether a flow is open; a document without any open flow counts as not knowing."""
    return not matrix.open or flow in matrix.open or flow not in matrix.flows
