"""How many new nodes are needed: the scheduler is asked about numbers of them, and never anything else."""
