"""What the project's makefile runs; no part of the program."""
