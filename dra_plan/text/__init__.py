"""Documents as text: tables, the words that questions share, formats, reports for CI. Nothing here prints."""
