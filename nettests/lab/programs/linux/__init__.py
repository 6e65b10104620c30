"""Programs of the Linux agnhost image besides agnhost itself."""
