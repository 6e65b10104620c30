"""What a check tests of its target: a closed set of words, each with its traits.

Imported through ``words``. A new question declares its traits here; where more than a trait
decides, a ``match`` ends with ``assert_never``, so that a missing case is a type error.
"""

from enum import Enum, StrEnum, auto
from typing import Self


class Trait(Enum):
    """A property of questions."""

    PATH = auto()
    """Packets between two ends decide the result. Questions about API server decisions, one node or
    the check's own Pod have no path; only they have targets without one (``target_kinds``)."""
    CHANGES_SERVICES = auto()
    """The check changes Services of its own, before the test or during it."""
    EXAMINED = auto()
    """It takes more than one command, run by an examiner."""
    TRIES_OBJECTS = auto()
    """It submits the case's own object to the API server."""
    EXHAUSTS = auto()
    """It looks for a limit that others share: such a check runs while no other does."""
    TIMED = auto()
    """Each answer is to a single request, so that times are comparable."""
    MANY_ANSWERS = auto()
    """It takes many answers, and reaches all backends only once a Service has converged."""
    ONE_FLOW = auto()
    """It is a request and its answer, or several alike, between two ends."""
    DATAGRAMS = auto()
    """Each attempt over UDP is one datagram and its answer; the tool neither retries nor counts."""
    CONNECTS = auto()
    """Outside the cluster it needs a port of the target."""


class Question(StrEnum):
    """What one check tests of its target."""

    _value_: str
    traits: frozenset[Trait]

    def __new__(cls, word: str, *traits: Trait) -> Self:
        """Create the word with its traits."""
        question = str.__new__(cls, word)
        question._value_, question.traits = word, frozenset(traits)
        return question

    REACH = "reach", Trait.PATH, Trait.TIMED, Trait.ONE_FLOW, Trait.DATAGRAMS, Trait.CONNECTS
    """Connect; which backend answers, and which source address did it see?"""
    PING = "ping", Trait.PATH, Trait.TIMED, Trait.ONE_FLOW
    """ICMP echo."""
    RESOLVE = "resolve", Trait.PATH, Trait.TIMED, Trait.ONE_FLOW
    """Name resolution only, by one resolver."""
    DISTRIBUTE = (
        "distribute",
        Trait.PATH,
        Trait.TIMED,
        Trait.MANY_ANSWERS,
        Trait.ONE_FLOW,
        Trait.DATAGRAMS,
    )
    """Open many connections from distinct source ports; which backends answer?"""
    WITNESS = (
        "witness",
        Trait.PATH,
        Trait.EXAMINED,
        Trait.MANY_ANSWERS,
        Trait.ONE_FLOW,
        Trait.CONNECTS,
    )
    """Connect while the nodes on the path capture; do packets match what server and facts say?"""
    PATH_MTU = "path-mtu", Trait.PATH, Trait.MANY_ANSWERS
    """Send echoes of many sizes; which packets pass, and above which size do they vanish?"""
    LOSS = "loss", Trait.PATH, Trait.MANY_ANSWERS, Trait.ONE_FLOW
    """Send a train of short requests one by one; how many are lost?"""
    FLOWS = "flows", Trait.PATH, Trait.EXHAUSTS, Trait.MANY_ANSWERS, Trait.CONNECTS
    """Open connections one by one without reuse; from which number on do they fail?"""
    SCALE = "scale", Trait.PATH, Trait.EXAMINED, Trait.EXHAUSTS, Trait.MANY_ANSWERS
    """Create and delete many more Services; who serves what meanwhile, and what is left?"""
    IDLE = "idle", Trait.PATH, Trait.EXAMINED, Trait.ONE_FLOW, Trait.CONNECTS
    """Use a connection again after it was idle; does it still carry data?"""
    CHURN = "churn", Trait.PATH, Trait.CHANGES_SERVICES, Trait.MANY_ANSWERS, Trait.ONE_FLOW
    """Delete and recreate a Service, each time with another backend; who answers in the end?"""
    DURING = "during", Trait.PATH, Trait.CHANGES_SERVICES, Trait.EXAMINED, Trait.MANY_ANSWERS
    """Change a Service's endpoints in use; is every connection answered, does a UDP flow follow?"""
    ADMIT = "admit", Trait.EXAMINED, Trait.TRIES_OBJECTS
    """Does the API server accept an object? Tested by dry run."""
    INSPECT = "inspect", Trait.EXAMINED
    """Is something configured as the documents demand? Read only."""
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
        """Whether it runs alone: it uses up what others need, or would drown in their packets."""
        return self.exhausts or self is Question.WITNESS

    @property
    def timed(self) -> bool:
        """Whether its answers' time can be compared."""
        return Trait.TIMED in self.traits
