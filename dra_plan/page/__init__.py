"""Results as HTML pages. A page is a single file with its own styles and script, and makes no network requests.

This package adds the layout and a picture of the cluster to the content of a document.
"""
