"""Answers as an HTML page: one file with its own styles and script, which makes no network requests.

The content is that of the document; this package adds the layout and a picture of the cluster.
"""
