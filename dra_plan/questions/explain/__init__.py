"""Why claims do not fit, and which changes would make them fit."""
