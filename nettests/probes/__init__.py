"""Make the probes stand and ask them: resident agnhost pods, node vantages, the external vantage.

``objects`` are what is deployed, ``deploy`` makes it stand, ``addresses`` and ``commands`` turn a
question into what is asked (pure), ``examine`` and ``starting`` ask what has no path, ``asking`` asks and writes down, ``attempts`` repeats with positive
controls, ``convergence`` waits for Services, ``observe`` does all of it concurrently. The cluster is
met through the protocols in ``seams``; nothing here judges.
"""

from nettests.probes.addresses import Directory
from nettests.probes.asking import Asker, Probe, StoppedError
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

__all__ = [
    "Asker",
    "Blank",
    "Churn",
    "Deployment",
    "Directory",
    "External",
    "Object",
    "Observer",
    "Probe",
    "StoppedError",
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
]
