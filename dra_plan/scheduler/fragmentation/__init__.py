"""The share of the idle devices that a mix of pods cannot use."""
