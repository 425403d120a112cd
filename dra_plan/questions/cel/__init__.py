"""What a selector expression reads and costs, and which devices it selects."""
