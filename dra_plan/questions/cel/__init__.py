"""What a selector expression is, and which devices it selects."""
