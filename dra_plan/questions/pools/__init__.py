"""The devices that drivers publish, and their free capacity."""
