"""``python -m nettests.lab``: the command line of the lab."""

from nettests.lab.cli import main

main()
