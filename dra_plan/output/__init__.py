"""Documents to text: one small file per format, and the documents' schemas. Nothing here prints."""
