"""Deploy the probes and run checks from them: resident agnhost pods, node vantages, the external vantage.

``objects`` are what is deployed, ``deploy`` makes it stand, ``addresses`` and ``commands`` turn a
question into what is run (pure), ``examine`` and ``starting`` test what has no path, ``sending`` sends and writes down, ``attempts`` repeats with positive
controls, ``convergence`` waits for Services, ``observe`` does all of it concurrently. The cluster is
met through the protocols in ``seams``; nothing here judges.
"""

from nettests.probes.addresses import Directory
from nettests.probes.arrivals import Arrivals
from nettests.probes.churn import Churn
from nettests.probes.deploy import deploy, in_cluster, rendered, standing
from nettests.probes.deployment import Deployment
from nettests.probes.examiners import examiners
from nettests.probes.exposure import exposed_ports
from nettests.probes.external import External
from nettests.probes.host_facts import read_host_facts
from nettests.probes.objects import Blank, Object, pods
from nettests.probes.observer import Observer
from nettests.probes.open import close_probes, open_probes
from nettests.probes.passing import passing
from nettests.probes.pulling import pull_images
from nettests.probes.replacing import Replacing
from nettests.probes.sending import Probe, Sender, StoppedError
from nettests.probes.still_standing import changes, still_standing, touched

__all__ = [
    "Arrivals",
    "Blank",
    "Churn",
    "Deployment",
    "Directory",
    "External",
    "Object",
    "Observer",
    "Probe",
    "Replacing",
    "Sender",
    "StoppedError",
    "changes",
    "close_probes",
    "deploy",
    "examiners",
    "exposed_ports",
    "in_cluster",
    "open_probes",
    "passing",
    "pods",
    "pull_images",
    "read_host_facts",
    "rendered",
    "standing",
    "still_standing",
    "touched",
]
