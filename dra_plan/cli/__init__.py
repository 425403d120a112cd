"""The command line: options, input, printing, exit statuses, completion.

The commands are in the folders of their questions and use this package to print and exit.
"""
