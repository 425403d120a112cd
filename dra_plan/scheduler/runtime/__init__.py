"""The plugins of a profile at work (upstream: framework/runtime): each extension point in order, then its answer."""

from .plugins import PluginPanicError
from .profile import Framework

__all__ = ["Framework", "PluginPanicError"]
