"""Reports for CI beside the document: what they say (content), from which document, and one file per format."""
