"""``python -m nettests``: the command line without its installed script."""

from nettests.cli import main

if __name__ == "__main__":
    main(prog_name="nettests")
