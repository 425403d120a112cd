"""Answers as a page that a browser opens: one file with its own styles and script, which asks no network for anything.

What is said is the document's; here it gets a form, and a picture of the cluster.
"""
