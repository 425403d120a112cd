"""Which node each pod gets when the scheduler schedules the pods one after another."""
