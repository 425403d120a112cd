"""Why claims do not fit, and the changes that would make them fit."""
