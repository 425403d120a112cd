"""How to free devices by moving pods: the fewest moves, in waves that the scheduler and the controllers carry out."""
