"""The scheduling framework: extension points, plugin status, and running a profile's plugins."""
