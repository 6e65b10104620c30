"""Programs of Windows: those of the node (for HostProcess) and those of the agnhost image's base image."""
