"""Google's C++ engine for the language, as a second opinion."""

from typing import Any


class Oracle:
    """Answers expressions without variables."""

    def __init__(self) -> None:
        from cel_expr_python import cel
        from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

        extensions = [ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()]
        self._environment = cel.NewEnv(extensions=extensions)

    def answer(self, expression: str) -> Any:
        """Return the value, "error" for a run-time error, or "refused" for an expression that does not compile."""
        try:
            compiled = self._environment.compile(expression)
        except Exception:  # the binding raises plain exceptions of several kinds
            return "refused"
        value = compiled.eval()
        return "error" if value.type().name() == "ERROR" else value.plain_value()
