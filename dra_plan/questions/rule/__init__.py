"""An explanation of each rule of `validate`."""
