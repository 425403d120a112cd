"""The command line: its options, where input comes from, printing, exit statuses, completion.

Commands are in the folders of their questions, which print and exit by what is here.
"""
