"""The DynamicResources plugin: claims of pods, extended resources backed by devices, binding."""
