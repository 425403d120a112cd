"""How much of the devices that are left a mix of pods cannot use."""
