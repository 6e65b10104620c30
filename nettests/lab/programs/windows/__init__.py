"""Programs of Windows: those of the node (HostProcess) and those of the agnhost image's base."""
