"""The exec plugin of a lab's kubeconfig: gets a short-lived token from the lab and prints it.

``python -m nettests.lab.kubeconfig.exec_plugin FOLDER SECONDS``, run by a Kubernetes client, which reads an
``ExecCredential`` from its standard output. Anyone who may open the lab's folder can get a token.
"""

import json
import sys
from pathlib import Path

from nettests.lab.errors import LabError
from nettests.lab.folders import control

API_VERSION = "client.authentication.k8s.io/v1"


def main(arguments: list[str]) -> int:
    """Print a credential of the lab in the folder; return the exit code."""
    folder, seconds = Path(arguments[0]), int(arguments[1])
    try:
        issued = control.request(folder, {"do": "token", "seconds": seconds})
    except LabError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    status = {"token": issued["token"], "expirationTimestamp": issued["expires"]}
    credential = {"apiVersion": API_VERSION, "kind": "ExecCredential", "status": status}
    sys.stdout.write(json.dumps(credential) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
