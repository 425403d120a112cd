"""Parse tokens into an expression with expanded macros, by cel-go's grammar.

There is a function for each level of precedence. The limits on depth are cel-go's: the number of grammar rules that are
open at the same time (`Depth`), and then the nesting of operators (`_heights`).
"""

from collections.abc import Callable, Mapping

from . import format_strings
from .ast import (
    Call,
    Const,
    ConstKind,
    Expr,
    Ident,
    List,
    MacroBuilder,
    Map,
    MapEntry,
    Message,
    MessageField,
    NodeFactory,
    Select,
    TooManyNodesError,
)
from .lexer import END, MOST_DEPTH, STARTS, Cursor, Depth, Issue, SyntaxIssueError, Token, tokenize
from .macros import Expander, MacroError, MacroKey

MOST_CODE_POINTS = 100_000

_RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
        *("loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_RELATIONS = {"<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "==": "_==_", "!=": "_!=_", "in": "@in"}
_SUMS = {"+": "_+_", "-": "_-_"}
_PRODUCTS = {"*": "_*_", "/": "_/_", "%": "_%_"}


def parse(text: str, macros: Mapping[MacroKey, Expander]) -> tuple[Expr | None, list[Issue]]:
    """Return the expression and no issues, or None and all issues."""
    if len(text) > MOST_CODE_POINTS:
        limits = f"size: {len(text)}, limit {MOST_CODE_POINTS}"
        return None, [Issue(None, f"expression code point size exceeds limit: {limits}")]
    tokens, issues = tokenize(text)
    parser = _Parser(tokens, macros)
    try:
        expr = parser.whole()
    except SyntaxIssueError as error:
        return None, [*issues, *parser.issues, error.issue]
    except TooManyNodesError:
        return None, [Issue(None, "expression is too large after macro expansion")]
    issues += parser.issues
    return (None if issues else expr), issues


class _Parser(Cursor):
    def __init__(self, tokens: list[Token], macros: Mapping[MacroKey, Expander]) -> None:
        super().__init__(tokens)
        self._macros = macros
        self._factory = NodeFactory()
        self._depth = Depth()
        self._heights: dict[int, int] = {}

    # Nodes

    def _raised(self, expr: Expr, *parts: Expr | None, by: int = 1) -> Expr:
        """Record the depth of the nodes that cel-go counts, and return the expression."""
        height = max((self._heights.get(part.id, 0) for part in parts if part is not None), default=0) + by
        if height > MOST_DEPTH:
            raise SyntaxIssueError(None, "max recursion depth exceeded")
        if height:
            self._heights[expr.id] = height
        return expr

    def _call(self, offset: int, function: str, *args: Expr, by: int = 1) -> Expr:
        return self._raised(Call(self._factory.id(), offset, None, function, args), *args, by=by)

    def _issue(self, offset: int, message: str) -> Expr:
        """Record an issue that does not end parsing; the returned node is never used."""
        self.issues.append(Issue(offset, message))
        return Const(self._factory.id(), offset, None, "null")

    def _call_or_macro(self, offset: int, target: Expr | None, function: str, args: tuple[Expr, ...]) -> Expr:
        expand = self._macros.get(MacroKey(function, len(args), target is not None))
        by = int(target is not None)  # cel-go counts member calls, not global ones
        if expand is not None:
            try:
                expanded = expand(MacroBuilder(self._factory, offset), target, args)
            except MacroError as error:
                return self._issue(error.offset, str(error))
            if expanded is not None:
                return self._raised(expanded, target, *args, by=by)
        call = Call(self._factory.id(), offset, target, function, args)
        return self._raised(call, target, *args, by=by)

    # The grammar

    def whole(self) -> Expr:
        """Parse everything; remaining tokens are an issue."""
        expr = self._expr()
        self._expect(END)
        return expr

    def _expr(self) -> Expr:
        with self._depth.within("expr"):
            condition = self._logical("||", "_||_", lambda: self._logical("&&", "_&&_", self._relation))
            if self._next.kind != "?":
                return condition
            offset = self._take().offset
            then = self._logical("||", "_||_", lambda: self._logical("&&", "_&&_", self._relation))
            self._expect(":")
            return self._call(offset, "_?_:_", condition, then, self._expr())

    def _logical(self, sign: str, function: str, operand: Callable[[], Expr]) -> Expr:
        """Parse a chain of && or ||, which cel-go turns into a balanced tree."""
        terms, offsets = [operand()], []
        while self._next.kind == sign:
            offsets.append(self._take().offset)
            terms.append(operand())
        return self._balanced(function, terms, offsets) if offsets else terms[0]

    def _balanced(self, function: str, terms: list[Expr], offsets: list[int]) -> Expr:
        if len(terms) == 1:
            return terms[0]
        middle = len(offsets) // 2
        left = self._balanced(function, terms[: middle + 1], offsets[:middle])
        right = self._balanced(function, terms[middle + 1 :], offsets[middle + 1 :])
        return self._call(offsets[middle], function, left, right, by=0)

    def _relation(self) -> Expr:
        with self._depth.within("relation"):
            left = self._sum()
            while (sign := self._next.kind) in _RELATIONS:
                offset = self._take().offset
                with self._depth.within("relation"):
                    right = self._sum()
                left = self._call(offset, _RELATIONS[sign], left, right)
            return left

    def _sum(self) -> Expr:
        with self._depth.within("calc"):
            left = self._product_tail(self._unary())
            while (sign := self._next.kind) in _SUMS:
                offset = self._take().offset
                with self._depth.within("calc"):
                    right = self._product_tail(self._unary())
                left = self._call(offset, _SUMS[sign], left, right)
            return left

    def _product_tail(self, left: Expr) -> Expr:
        while (sign := self._next.kind) in _PRODUCTS:
            offset = self._take().offset
            with self._depth.within("calc"):
                right = self._unary()
            left = self._call(offset, _PRODUCTS[sign], left, right)
        return left

    def _unary(self) -> Expr:
        for sign, function in (("!", "!_"), ("-", "-_")):
            if self._next.kind != sign or (sign == "-" and self._peek(1) in ("NUM_INT", "NUM_FLOAT")):
                continue
            offset, count = self._next.offset, 0
            while self._taken(sign):
                count += 1
            if self._next.kind not in STARTS:
                raise self._unexpected("extraneous")
            operand = self._member()
            return self._call(offset, function, operand, by=0) if count % 2 else operand
        return self._member()

    def _member(self) -> Expr:
        expr = self._primary()
        while True:
            offset = self._next.offset
            if self._taken("."):
                expr = self._selection(expr, offset)
            elif self._taken("["):
                function = "_[?_]" if self._taken("?") else "_[_]"
                expr = self._call(offset, function, expr, self._expr())
                self._expect("]")
            else:
                return expr

    def _selection(self, operand: Expr, offset: int) -> Expr:
        """Parse the part after a dot: an optional field, a member call or a field."""
        optional = self._taken("?")
        name = self._next
        if self._taken("ESC_IDENTIFIER"):
            self._issue(name.offset, "unsupported syntax: '`'")
        else:
            self._expect("IDENTIFIER")
        if optional:
            return self._call(offset, "_?._", operand, Const(self._factory.id(), name.offset, name.text, "string"))
        if self._next.kind == "(":
            return self._call_or_macro(self._next.offset, operand, name.text, self._arguments())
        return self._raised(Select(self._factory.id(), offset, operand, name.text), operand)

    def _arguments(self) -> tuple[Expr, ...]:
        self._expect("(")
        args = []
        if self._next.kind != ")":
            args.append(self._expr())
            while self._taken(","):
                args.append(self._expr())
        self._expect(")")
        return tuple(args)

    def _primary(self) -> Expr:
        match self._next.kind:
            case "IDENTIFIER" | ".":
                return self._message() if self._is_message() else self._identifier()
            case "(":
                self._take()
                expr = self._expr()
                self._expect(")")
                return expr
            case "[":
                return self._list()
            case "{":
                return self._map()
        return self._literal()

    def _identifier(self) -> Expr:
        first = self._next.offset
        dot = "." if self._taken(".") else ""
        name = self._expect("IDENTIFIER")
        called = self._next
        if name.text in _RESERVED:
            if called.kind == "(":
                self._arguments()
            return self._issue(first, f"reserved identifier: {name.text}")
        if called.kind == "(":
            return self._call_or_macro(called.offset, None, dot + name.text, self._arguments())
        return Ident(self._factory.id(), name.offset, dot + name.text)

    def _is_message(self) -> bool:
        """Return whether a message literal begins here: a qualified name followed by a brace."""
        ahead = 1 if self._next.kind == "." else 0
        while self._peek(ahead) == "IDENTIFIER":
            if self._peek(ahead + 1) != ".":
                return self._peek(ahead + 1) == "{"
            ahead += 2
        return False

    def _message(self) -> Expr:
        name = "." if self._taken(".") else ""
        name += self._expect("IDENTIFIER").text
        while self._taken("."):
            name += "." + self._expect("IDENTIFIER").text
        offset, node = self._expect("{").offset, self._factory.id()
        fields = []
        while self._next.kind not in (",", "}"):
            fields.append(self._field())
            if self._next.kind != "," or self._peek(1) == "}":
                break
            self._take()
        self._taken(",")
        self._expect("}")
        return self._raised(Message(node, offset, name, tuple(fields)), *(field.value for field in fields), by=0)

    def _field(self) -> MessageField:
        optional = self._taken("?")
        name = self._next
        if self._taken("ESC_IDENTIFIER"):
            self._issue(name.offset, "unsupported syntax: '`'")
        else:
            self._expect("IDENTIFIER")
        colon = self._expect(":")
        return MessageField(self._factory.id(), colon.offset, name.text, self._expr(), optional)

    def _list(self) -> Expr:
        offset, node = self._take().offset, self._factory.id()
        elements: list[Expr] = []
        optional = []
        while self._next.kind not in (",", "]"):
            if self._taken("?"):
                optional.append(len(elements))
            elements.append(self._expr())
            if self._next.kind != "," or self._peek(1) == "]":
                break
            self._take()
        self._taken(",")
        self._expect("]")
        return self._raised(List(node, offset, tuple(elements), tuple(optional)), *elements, by=0)

    def _map(self) -> Expr:
        offset, node = self._take().offset, self._factory.id()
        entries = []
        while self._next.kind not in (",", "}"):
            entries.append(self._entry())
            if self._next.kind != "," or self._peek(1) == "}":
                break
            self._take()
        self._taken(",")
        self._expect("}")
        parts = [part for entry in entries for part in (entry.key, entry.value)]
        return self._raised(Map(node, offset, tuple(entries)), *parts, by=0)

    def _entry(self) -> MapEntry:
        optional = self._taken("?")
        key = self._expr()
        colon = self._expect(":")
        return MapEntry(self._factory.id(), colon.offset, key, self._expr(), optional)

    def _literal(self) -> Expr:
        offset, negative = self._next.offset, self._taken("-")
        token = self._next
        value: bool | int | float | str | bytes | None
        kind: ConstKind
        match token.kind:
            case "NUM_INT":
                value, kind = format_strings.integer(token.text, negative=negative), "int"
            case "NUM_FLOAT":
                value, kind = format_strings.floating(token.text, negative=negative), "double"
            case "NUM_UINT":
                value, kind = format_strings.unsigned(token.text), "uint"
            case "STRING":
                value, kind = format_strings.string(token.text), "string"
            case "BYTES":
                value, kind = format_strings.octets(token.text), "bytes"
            case "true" | "false":
                value, kind = token.kind == "true", "bool"
            case "null":
                self._take()
                return Const(self._factory.id(), offset, None, "null")
            case _:
                self._skip()
                return self._unary()
        self._take()
        if value is None:
            number = token.kind.startswith("NUM")
            return self._issue(offset, f"invalid {kind} literal" if number else "unable to unescape string")
        return Const(self._factory.id(), offset, value, kind)
