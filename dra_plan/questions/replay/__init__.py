"""What becomes of a cluster over time, as pods come and go, and under which configuration more of it is used."""
