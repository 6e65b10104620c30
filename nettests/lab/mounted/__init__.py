"""What containers of the lab have mounted: volumes that the containers of a pod share, and the programs of their image."""

from nettests.lab.mounted.files import (
    CopyError,
    CopyFailure,
    Drive,
    FileError,
    Files,
    Mount,
    Volume,
    full,
)

__all__ = ["CopyError", "CopyFailure", "Drive", "FileError", "Files", "Mount", "Volume", "full"]
