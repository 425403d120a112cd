"""What is wrong with manifests before the cluster says so: rules as data, and checks that yield findings.

Reads objects as they were written, so that findings can name the place. Nothing here prints or decides exit statuses.
"""
