"""Documents as text: tables, shared wording, output formats and CI reports. Nothing here prints."""
