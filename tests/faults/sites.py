"""Finds the places of a C++ source where a small change makes a mutant: read by its tokens, not by its grammar."""

import re

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<line>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:[eE][+-]|'?[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSING = {v: k for k, v in PAIRS.items()}
# What ends an operand at its own depth, by the operator that joins it.
ENDS = {";", ",", "?", ":", "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "return", "<<", "case", "co_return", "throw",
        "else", "do"}
ENDS_OF_OR = ENDS | {"||"}
ENDS_OF_AND = ENDS_OF_OR | {"&&"}
ENDS_OF_SUM = ENDS | {"||", "&&", "<", ">", "<=", ">=", "==", "!=", "<=>", "&", "|", "^"}
ENDS_OF_PRODUCT = ENDS_OF_SUM | {"+", "-"}
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
KINDS = ("term", "condition", "comparison", "by one", "constant", "min for max")


class Token:
    __slots__ = ("kind", "text", "begin", "end", "spaced")

    def __init__(self, kind, text, begin, end, spaced):
        self.kind, self.text, self.begin, self.end, self.spaced = kind, text, begin, end, spaced


def tokens_of(source):
    """Returns the tokens; `spaced`: blanks stand on both sides, as they do around an operator of two operands."""
    out = []
    for m in TOKEN.finditer(source):
        kind = m.lastgroup if m.lastgroup != "mark" else "text"
        if kind in ("space", "line"):
            continue
        around = source[m.start() - 1:m.start()] + source[m.end():m.end() + 1]
        out.append(Token(kind, m.group(), m.start(), m.end(), len(around) == 2 and around.isspace()))
    return out


class Site:
    """One change: source[begin:end] becomes `after`."""

    def __init__(self, kind, begin, end, after):
        self.kind, self.begin, self.end, self.after = kind, begin, end, after


class Sites:
    def __init__(self, source):
        self.source, self.t = source, tokens_of(source)
        self.match = {}
        opened = []
        for i, token in enumerate(self.t):
            if token.text in PAIRS and token.kind == "sign":
                opened.append(i)
            elif token.text in CLOSING and token.kind == "sign" and opened:
                self.match[opened[-1]] = i
                self.match[i] = opened.pop()
        self.all = {kind: [] for kind in KINDS}
        for i, token in enumerate(self.t):
            if token.kind == "sign" and token.spaced:
                self.operator(i, token)
            elif token.kind == "number":
                self.number(i, token)
            elif token.text in ("min", "max") and i > 1 and self.t[i - 1].text == "::" and self.t[i - 2].text in ("std", "ranges"):
                self.add("min for max", token.begin, token.end, "max" if token.text == "min" else "min")

    def add(self, kind, begin, end, after):
        self.all[kind].append(Site(kind, begin, end, after))

    def right_of(self, i, ends):
        """Returns the index behind the operand that begins behind token i; None where it has a text in it."""
        j = i + 1
        while j < len(self.t):
            token = self.t[j]
            if token.kind == "text":
                return None
            if token.kind == "sign" and token.text in PAIRS:
                j = self.match.get(j, len(self.t)) + 1
                continue
            if (token.kind == "sign" and token.text in CLOSING) or (token.text in ends and self.binary(token)):
                break
            j += 1
        return j if j > i + 1 else None

    def left_of(self, i, ends):
        """Returns the index of the first token of the operand before token i; None where it has a text in it."""
        j = i - 1
        while j >= 0:
            token = self.t[j]
            if token.kind == "text":
                return None
            if token.kind == "sign" and token.text in CLOSING:
                if token.text == "}" and j + 1 == i:
                    return None
                j = self.match.get(j, 0) - 1
                continue
            if (token.kind == "sign" and token.text in PAIRS) or (token.text in ends and self.binary(token)):
                break
            j -= 1
        return j + 1 if j + 1 < i else None

    @staticmethod
    def binary(token):
        return token.spaced or token.text in (";", ",", "return", "case", ":", "else", "throw")

    def operator(self, i, token):
        text = token.text
        if text in SWAPS:
            self.add("comparison", token.begin, token.end, SWAPS[text])
            self.bound(i, text)
        elif text in ("&&", "||"):
            self.drop("condition", i, ENDS_OF_AND if text == "&&" else ENDS_OF_OR)
        elif text in ("+", "-"):
            self.drop("term", i, ENDS_OF_SUM, ENDS_OF_PRODUCT, left=text == "+")
            if self.t[i + 1].text == "1" and not self.is_text_sum(i):
                end = self.t[i + 1].end
                self.add("by one", token.begin, end, ("- " if text == "+" else "+ ") + "1")
        elif text in ("*", "/"):
            self.drop("term", i, ENDS_OF_PRODUCT, ENDS_OF_PRODUCT | {"*", "/", "%"}, left=text == "*")

    def is_text_sum(self, i):
        return self.left_of(i, ENDS_OF_SUM) is None or self.right_of(i, ENDS_OF_SUM) is None

    def bound(self, i, text):
        """Adds "i < n - 1" for "i < n" of a loop or a limit."""
        behind = self.right_of(i, ENDS_OF_SUM)
        if text in ("<", "<=", ">", ">=") and behind is not None and behind < len(self.t):
            end = self.t[behind - 1].end
            self.add("by one", end, end, " - 1" if text in ("<", "<=") else " + 1")

    def drop(self, kind, i, ends_left, ends_right=None, left=True):
        """Adds a mutant without the right operand, and one without the left one."""
        behind, first = self.right_of(i, ends_right or ends_left), self.left_of(i, ends_left)
        if behind is None or first is None:
            return
        self.add(kind, self.t[i - 1].end, self.t[behind - 1].end, "")
        if left:
            self.add(kind, self.t[first].begin, self.t[i + 1].begin, "")

    def number(self, i, token):
        before = self.t[i - 1].text if i > 0 else ""
        if before == "<" and not self.t[i - 1].spaced:  # of a template
            return
        text = token.text
        digits = text.replace("'", "")
        if re.fullmatch(r"\d+", digits):
            n = int(digits)
            after = str(1 - n) if n < 2 else str(n + 1)
        elif re.fullmatch(r"\d*\.?\d+(e[+-]?\d+)?|\d+\.(e[+-]?\d+)?", digits):
            after = f"(1.25 * {text})" if float(digits) else "1.0"
        else:
            return
        self.add("constant", token.begin, token.end, after)
