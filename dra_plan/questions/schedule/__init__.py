"""Where each pod goes when the scheduler takes them one after the other."""
