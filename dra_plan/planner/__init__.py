"""Building blocks that several commands share: named owners, claim sets on nodes, pools and warnings."""
