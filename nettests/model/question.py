"""What a check tests of its target: a closed set of words, and the properties of each.

A part of ``words``, through which it is imported. Each property is exhaustive, so that a new question is a type error
here and at each ``match`` elsewhere until it is decided.
"""

from enum import StrEnum
from typing import assert_never


class Question(StrEnum):
    """What one check tests of its target."""

    REACH = "reach"
    """Connect, learn which backend answers and which source address it saw."""
    PING = "ping"
    """ICMP echo."""
    RESOLVE = "resolve"
    """Name resolution alone, by one resolver."""
    DISTRIBUTE = "distribute"
    """Many new connections from distinct source ports; which backends answer?"""
    WITNESS = "witness"
    """Connect while the nodes on the way capture: is what the server and the facts say what travels on the wire?"""
    PATH_MTU = "path-mtu"
    """Echoes of many sizes; which packets are carried, and above which size do they vanish?"""
    LOSS = "loss"
    """A train of short questions, one after another; how many of them are lost?"""
    FLOWS = "flows"
    """So many connections, one after another, as a client makes that keeps none; from which number on do they fail?"""
    SCALE = "scale"
    """Many more Services are made and removed beside those that are there; who serves what meanwhile, and what is left?"""
    IDLE = "idle"
    """A connection is idle for a while, and is used again; does it still carry anything?"""
    CHURN = "churn"
    """Its Service is deleted and recreated, each time in front of another backend; who answers in the end?"""
    DURING = "during"
    """Its Service gets other endpoints while it is used; is every new connection answered, does a UDP flow follow?"""
    ADMIT = "admit"
    """Does the API server accept an object? Tested by dry run."""
    INSPECT = "inspect"
    """Is something set up as the documents demand? Read, never changed."""
    START = "start"
    """Does a Pod of the check's own start, and how does it end?"""

    @property
    def has_path(self) -> bool:
        """Whether packets between two ends decide the result.

        Without a path are questions to the API server, about one node, and to a Pod that the check creates; only
        they have targets of ``target_kinds`` without a path.
        """
        match self:
            case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
                return True
            case Question.IDLE | Question.CHURN | Question.PATH_MTU | Question.LOSS:
                return True
            case Question.FLOWS | Question.SCALE | Question.WITNESS | Question.DURING:
                return True
            case Question.ADMIT | Question.INSPECT | Question.START:
                return False
            case _:
                assert_never(self)

    @property
    def changes_services(self) -> bool:
        """Whether Services of the check's own change, before it is tested or meanwhile."""
        match self:
            case Question.CHURN | Question.DURING:
                return True
            case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
                return False
            case Question.IDLE | Question.PATH_MTU | Question.LOSS | Question.FLOWS:
                return False
            case Question.SCALE | Question.WITNESS:
                return False
            case Question.ADMIT | Question.INSPECT | Question.START:
                return False
            case _:
                assert_never(self)

    @property
    def examined(self) -> bool:
        """Whether it takes more than one command, so that an examiner answers it."""
        match self:
            case Question.ADMIT | Question.INSPECT | Question.START | Question.IDLE:
                return True
            case Question.SCALE | Question.WITNESS | Question.DURING:
                return True
            case Question.REACH | Question.PING | Question.RESOLVE | Question.FLOWS:
                return False
            case Question.DISTRIBUTE | Question.CHURN | Question.PATH_MTU | Question.LOSS:
                return False
            case _:
                assert_never(self)

    @property
    def tries_objects(self) -> bool:
        """Whether the case's own object is handed to the API server."""
        match self:
            case Question.ADMIT | Question.START:
                return True
            case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
                return False
            case Question.IDLE | Question.CHURN | Question.INSPECT | Question.WITNESS:
                return False
            case Question.DURING:
                return False
            case Question.PATH_MTU | Question.LOSS | Question.FLOWS | Question.SCALE:
                return False
            case _:
                assert_never(self)

    @property
    def exhausts(self) -> bool:
        """Whether it looks for a limit that others share: such a check runs while no other does."""
        match self:
            case Question.FLOWS | Question.SCALE:
                return True
            case Question.WITNESS | Question.DURING:
                return False
            case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
                return False
            case Question.IDLE | Question.CHURN | Question.PATH_MTU | Question.LOSS:
                return False
            case Question.ADMIT | Question.INSPECT | Question.START:
                return False
            case _:
                assert_never(self)

    @property
    def alone(self) -> bool:
        """Whether such a check runs while no other one does: it uses up what others need, or would be lost among their packets."""
        return self.exhausts or self is Question.WITNESS

    @property
    def timed(self) -> bool:
        """Whether each answer is to a single request, so that its time can be compared."""
        match self:
            case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
                return True
            case Question.IDLE | Question.CHURN | Question.PATH_MTU | Question.LOSS:
                return False
            case Question.FLOWS | Question.SCALE | Question.WITNESS | Question.DURING:
                return False
            case Question.ADMIT | Question.INSPECT | Question.START:
                return False
            case _:
                assert_never(self)
