"""The scheduling framework: extension points, the status of plugins, and the runs of a profile's plugins."""
