"""Free devices gained by moving pods: the fewest moves, in waves that scheduler and controllers carry out."""
