"""CEL, the expression language of selectors in device classes and requests."""

from .selector import Evaluation, Selector, compile_selector

__all__ = ["Evaluation", "Selector", "compile_selector"]
