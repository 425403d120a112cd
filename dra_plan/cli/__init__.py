"""The command line: options, input, printing, exit statuses and completion.

The commands themselves are in the folders of `questions`.
"""
