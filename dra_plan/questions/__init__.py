"""What a cluster can be asked: a folder for each question, and their registry."""
