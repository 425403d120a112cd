"""The DynamicResources plugin: pods' claims, extended resources backed by devices, and binding."""
