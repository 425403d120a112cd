"""The devices that drivers publish, and which of them are free."""
