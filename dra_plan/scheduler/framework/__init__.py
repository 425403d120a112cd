"""The scheduling framework: extension points, plugin status, and the runs of a profile's plugins."""
