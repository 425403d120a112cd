"""Results as an HTML page, which is one file with its own styles and script that makes no network requests.

The content is the document's; this package adds the layout and a picture of the cluster.
"""
