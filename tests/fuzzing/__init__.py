"""Broken inputs by the thousand, through the commands as users run them. `make fuzz N=200000` runs it."""
