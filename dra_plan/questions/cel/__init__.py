"""The properties of a selector expression, and the devices that it selects."""
