"""claimsets."""
