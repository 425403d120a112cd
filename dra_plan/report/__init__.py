"""Answers as a page that a browser opens: one file with its own styles and script, which asks no network for anything.

What is said is the document's, in the words of `dra_plan.output`; here it gets a form, and a picture of the cluster.
"""
