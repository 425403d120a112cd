"""Problems in manifests, found before they are applied."""
