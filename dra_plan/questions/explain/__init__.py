"""Why claims do not fit, and what would make them fit."""
