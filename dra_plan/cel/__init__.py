"""The selector language of device classes and requests."""

from .selector import Evaluation, Selector, compile_selector

__all__ = ["Evaluation", "Selector", "compile_selector"]
