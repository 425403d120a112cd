"""The building blocks of the answers to several questions: named owners, claim sets on nodes, pools, warnings."""
