"""The outside of the emulated cluster: an external host, and a proxy through which users become external clients."""
