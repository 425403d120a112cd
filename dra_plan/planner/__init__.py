"""What the answers of several questions are made of: who is asked about, claim sets on nodes, pools, warnings."""
