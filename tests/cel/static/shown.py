"""Expressions as text, close to how they are written, so that a test reads as an example."""

from dra_plan.cel.ast import Call, Comprehension, Const, Expr, Ident, List, Map, Message, Select


def shown(expr: Expr) -> str:
    match expr:
        case Const(kind="null"):
            return "null"
        case Const(kind="bool"):
            return str(expr.value).lower()
        case Const(kind="uint"):
            return f"{expr.value}u"
        case Const():
            return repr(expr.value)
        case Ident():
            return expr.name
        case Select():
            text = f"{shown(expr.operand)}.{expr.field}"
            return f"has({text})" if expr.test_only else text
        case Call():
            target = "" if expr.target is None else f"{shown(expr.target)}."
            return f"{target}{expr.function}({', '.join(map(shown, expr.args))})"
        case List():
            marks = ["?" if at in expr.optional_indices else "" for at in range(len(expr.elements))]
            return f"[{', '.join(mark + shown(part) for mark, part in zip(marks, expr.elements, strict=True))}]"
        case Map():
            entries = (f"{'?' * entry.optional}{shown(entry.key)}: {shown(entry.value)}" for entry in expr.entries)
            return f"{{{', '.join(entries)}}}"
        case Message():
            fields = (f"{'?' * field.optional}{field.field}: {shown(field.value)}" for field in expr.fields)
            return f"{expr.name}{{{', '.join(fields)}}}"
        case Comprehension():
            variables = expr.iter_var + (f", {expr.iter_var2}" if expr.iter_var2 else "")
            loop = f"while {shown(expr.loop_condition)} do {shown(expr.loop_step)} then {shown(expr.result)}"
            return f"fold({variables} in {shown(expr.iter_range)}; {expr.accu_var} = {shown(expr.accu_init)}; {loop})"
