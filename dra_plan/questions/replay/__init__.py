"""A cluster over time, as pods come and go, and the configuration under which more of it is used."""
