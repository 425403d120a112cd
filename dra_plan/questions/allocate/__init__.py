"""Where claims fit, and the devices that they get."""
