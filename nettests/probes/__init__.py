"""Deploy probes and run checks from them: resident agnhost pods, node and external vantages.

``objects`` defines what is deployed, ``deploy`` deploys it; ``addresses`` and ``commands`` turn a
check into a request or argv (pure); ``examine`` and ``starting`` run checks without a path;
``sending`` sends and records, ``attempts`` repeats with positive controls, ``convergence`` waits
for Services, and ``observer`` runs all of it concurrently. The cluster is used through the
protocols in ``seams``; nothing here judges.
"""

from nettests.probes.addresses import Directory, domain_of
from nettests.probes.arrivals import Arrivals
from nettests.probes.calibrating import calibrate, every_instrument, place_of, places
from nettests.probes.captured_ping import captured_ping
from nettests.probes.churn import Churn
from nettests.probes.deploy import deploy, in_cluster, rendered, standing
from nettests.probes.deployment import Deployment
from nettests.probes.examiners import examiners
from nettests.probes.exposure import exposed_ports
from nettests.probes.external import External
from nettests.probes.host_facts import lacking_facts, read_host_facts
from nettests.probes.known_questions import Here, Place
from nettests.probes.objects import Blank, pods
from nettests.probes.observer import Observer
from nettests.probes.open import close_probes, open_probes
from nettests.probes.pulling import pull_images
from nettests.probes.replacing import Replacing
from nettests.probes.sending import Probe, Sender, StoppedError
from nettests.probes.short_lived import short_lived_objects
from nettests.probes.still_standing import changes, still_standing, touched

__all__ = [
    "Arrivals",
    "Blank",
    "Churn",
    "Deployment",
    "Directory",
    "External",
    "Here",
    "Observer",
    "Place",
    "Probe",
    "Replacing",
    "Sender",
    "StoppedError",
    "calibrate",
    "captured_ping",
    "changes",
    "close_probes",
    "deploy",
    "domain_of",
    "every_instrument",
    "examiners",
    "exposed_ports",
    "in_cluster",
    "lacking_facts",
    "open_probes",
    "place_of",
    "places",
    "pods",
    "pull_images",
    "read_host_facts",
    "rendered",
    "short_lived_objects",
    "standing",
    "still_standing",
    "touched",
]
