"""What a check tests of its target: a closed set of words, each declared with its traits.

A part of ``words``, through which it is imported. A new question says here what it is; where more than a trait decides, a
``match`` ends with ``assert_never``, so that it is a type error there.
"""

from enum import Enum, StrEnum, auto
from typing import Self


class Trait(Enum):
    """What holds for a question."""

    PATH = auto()
    """Packets between two ends decide the result. Without a path are questions to the API server, about one node, and to a
    Pod that the check creates; only they have targets of ``target_kinds`` without a path."""
    CHANGES_SERVICES = auto()
    """Services of the check's own change, before it is tested or meanwhile."""
    EXAMINED = auto()
    """It takes more than one command, so that an examiner answers it."""
    TRIES_OBJECTS = auto()
    """The case's own object is handed to the API server."""
    EXHAUSTS = auto()
    """It looks for a limit that others share: such a check runs while no other does."""
    TIMED = auto()
    """Each answer is to a single request, so that its time can be compared."""
    MANY_ANSWERS = auto()
    """It takes many answers, and meets all backends only once a Service has converged."""
    ONE_FLOW = auto()
    """It is a request and its answer, or several of a kind, between two ends."""
    DATAGRAMS = auto()
    """Each attempt over UDP is one datagram and its answer, without retries or counting by the tool."""
    CONNECTS = auto()
    """Outside the cluster it needs a port of the target."""


class Question(StrEnum):
    """What one check tests of its target."""

    _value_: str
    traits: frozenset[Trait]

    def __new__(cls, word: str, *traits: Trait) -> Self:
        """Return the word with its traits."""
        question = str.__new__(cls, word)
        question._value_, question.traits = word, frozenset(traits)
        return question

    REACH = "reach", Trait.PATH, Trait.TIMED, Trait.ONE_FLOW, Trait.DATAGRAMS, Trait.CONNECTS
    """Connect, learn which backend answers and which source address it saw."""
    PING = "ping", Trait.PATH, Trait.TIMED, Trait.ONE_FLOW
    """ICMP echo."""
    RESOLVE = "resolve", Trait.PATH, Trait.TIMED, Trait.ONE_FLOW
    """Name resolution alone, by one resolver."""
    DISTRIBUTE = (
        "distribute",
        Trait.PATH,
        Trait.TIMED,
        Trait.MANY_ANSWERS,
        Trait.ONE_FLOW,
        Trait.DATAGRAMS,
    )
    """Many new connections from distinct source ports; which backends answer?"""
    WITNESS = (
        "witness",
        Trait.PATH,
        Trait.EXAMINED,
        Trait.MANY_ANSWERS,
        Trait.ONE_FLOW,
        Trait.CONNECTS,
    )
    """Connect while the nodes on the way capture: is what the server and the facts say what travels on the wire?"""
    PATH_MTU = "path-mtu", Trait.PATH, Trait.MANY_ANSWERS
    """Echoes of many sizes; which packets are carried, and above which size do they vanish?"""
    LOSS = "loss", Trait.PATH, Trait.MANY_ANSWERS, Trait.ONE_FLOW
    """A train of short questions, one after another; how many of them are lost?"""
    FLOWS = "flows", Trait.PATH, Trait.EXHAUSTS, Trait.MANY_ANSWERS, Trait.CONNECTS
    """So many connections, one after another, as a client makes that keeps none; from which number on do they fail?"""
    SCALE = "scale", Trait.PATH, Trait.EXAMINED, Trait.EXHAUSTS, Trait.MANY_ANSWERS
    """Many more Services are made and removed beside those that are there; who serves what meanwhile, and what is left?"""
    IDLE = "idle", Trait.PATH, Trait.EXAMINED, Trait.ONE_FLOW, Trait.CONNECTS
    """A connection is idle for a while, and is used again; does it still carry anything?"""
    CHURN = "churn", Trait.PATH, Trait.CHANGES_SERVICES, Trait.MANY_ANSWERS, Trait.ONE_FLOW
    """Its Service is deleted and recreated, each time in front of another backend; who answers in the end?"""
    DURING = "during", Trait.PATH, Trait.CHANGES_SERVICES, Trait.EXAMINED, Trait.MANY_ANSWERS
    """Its Service gets other endpoints while it is used; is every new connection answered, does a UDP flow follow?"""
    ADMIT = "admit", Trait.EXAMINED, Trait.TRIES_OBJECTS
    """Does the API server accept an object? Tested by dry run."""
    INSPECT = "inspect", Trait.EXAMINED
    """Is something set up as the documents demand? Read, never changed."""
    START = "start", Trait.EXAMINED, Trait.TRIES_OBJECTS
    """Does a Pod of the check's own start, and how does it end?"""

    @property
    def has_path(self) -> bool:
        """Whether packets between two ends decide the result."""
        return Trait.PATH in self.traits

    @property
    def changes_services(self) -> bool:
        """Whether Services of the check's own change."""
        return Trait.CHANGES_SERVICES in self.traits

    @property
    def examined(self) -> bool:
        """Whether an examiner answers it."""
        return Trait.EXAMINED in self.traits

    @property
    def tries_objects(self) -> bool:
        """Whether the case's own object is handed to the API server."""
        return Trait.TRIES_OBJECTS in self.traits

    @property
    def exhausts(self) -> bool:
        """Whether it looks for a limit that others share."""
        return Trait.EXHAUSTS in self.traits

    @property
    def alone(self) -> bool:
        """Whether such a check runs while no other one does: it uses up what others need, or would be lost among their packets."""
        return self.exhausts or self is Question.WITNESS

    @property
    def timed(self) -> bool:
        """Whether its answers' time can be compared."""
        return Trait.TIMED in self.traits
