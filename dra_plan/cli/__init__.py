"""The command line: options, input, printing, exit statuses, completion.

The commands are in their own folders in `questions`, and use this package to print and exit.
"""
