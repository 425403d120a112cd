"""Rules about manifests, and checks that find violations before the cluster does.

Objects are checked as they are written, so that each finding can point to its place in the file. Nothing here prints or
sets exit statuses.
"""
