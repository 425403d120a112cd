"""Documents as text: tables, wordings that commands share, formats, reports for CI. Nothing here prints."""
