"""What two states of a cluster answer differently: claim sets, pods, pools and selectors, a file each.

They are compared as documents have them. Nothing here decides what fits.
"""
