"""How a cluster is used over time as pods come and go, and under which configuration more of it is used."""
