"""The selector language of device classes and requests."""
