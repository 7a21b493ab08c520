"""Writes papermill's parameters as Go, for notebooks of the gocuda kernel."""

import json
import math
import re
import threading

from papermill.engines import NBClientEngine as Engine  # papermill's own, under our name too
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

# Variables or constants with their values, in a block or by themselves, and what is
# said of them.
DECLARATION = re.compile(
    r"""^\s*(?:(?P<kind>var|const)\s+)?(?P<names>[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)(?P<type>\s+[^\s=:/][^=:/]*?)?\s*:?=\s*"""
    r"""(?P<value>(?:"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])*'|[^"`'/]|/(?!/))+?)\s*(?://\s*(?P<help>.*))?$""")
BLOCK = re.compile(r"^\s*(var|const)\s*\(")

INT = r"(?:0[xX][\da-fA-F_]+|0[oObB][\d_]+|\d[\d_]*)"

# The type that Go gives to a value, by how it is written.
TYPES = [(re.compile(pattern + r"\Z", re.S), go) for pattern, go in [
    (r'"(?:\\.|[^"\\])*"|`[^`]*`', "string"),
    (r"'(?:\\.|[^'\\])*'", "rune"),
    (r"true|false", "bool"),
    (rf"[-+]?\s*{INT}(?:\s*(?:<<|>>|[-+*/%&|^])\s*[-+]?{INT})*", "int"),
    (r"[-+\d_.eE\s*/()]*\d[-+\d_.eE\s*/()]*", "float64"),
]]
LITERAL = re.compile(r"(?P<type>(?:\[\w*\]|map\[[\w.]+\])+[\w.]+|[A-Z][\w.]*|\w+\.[A-Z]\w*)\s*\{|(?P<conversion>u?int\d*|float\d+|string|byte|rune|bool)\(")


def inferred(value):
    """The type of a value; "None" is papermill's word for one that is not known."""
    for pattern, go in TYPES:
        if pattern.match(value):
            return go
    m = LITERAL.match(value)
    return (m["type"] or m["conversion"]) if m else "None"


def separate(values, n):
    """The n values of a list, or the whole for each where the commas are others."""
    parts = re.findall(r"""(?:"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])*'|\{[^{}]*\}|\([^()]*\)|[^,])+""", values)
    return [p.strip() for p in parts] if len(parts) == n else [values] * n


# What the parameters cell declares that papermill last had inspected, which it does
# just before it has the parameters written; by thread.
seen = threading.local()


class GoTranslator(Translator):
    """Assigns to the variables that the cell tagged parameters declares: they
    keep the types that it gave them. Others it declares, as "gocuda-kernel run -p" does;
    papermill warns of them."""

    @classmethod
    def codify(cls, parameters, comment="Parameters"):
        declared, seen.declared = getattr(seen, "declared", {}), {}
        lines = [cls.comment(comment)]
        for name, value in parameters.items():
            text = cls.translate(value)
            kind = declared.get(name)
            lines.append(f"const {name} = {text}" if kind == "const" else f"{name} = {text}" if kind else f"{name} := {text}")
        return "\n".join(lines) + "\n"

    @classmethod
    def translate_escaped_str(cls, value):
        return json.dumps(str(value), ensure_ascii=False)

    @classmethod
    def translate_none(cls, value):
        return "nil"

    @classmethod
    def translate_bool(cls, value):
        return "true" if value else "false"

    @classmethod
    def translate_float(cls, value):
        if math.isnan(value):
            return "math.NaN()"
        if math.isinf(value):
            return f"math.Inf({1 if value > 0 else -1})"
        return repr(value)

    @classmethod
    def type_of(cls, values):
        """The Go type that holds all of these."""
        kinds = {type(v) for v in values}
        if kinds == {list} or kinds == {tuple}:
            return "[]" + cls.type_of([x for v in values for x in v])
        for go, python in [("bool", {bool}), ("int", {int}), ("float64", {int, float}), ("string", {str})]:
            if kinds and kinds <= python:
                return go
        return "any"

    @classmethod
    def elements(cls, values):
        """The body of a slice: slices within it have their type from it."""
        return "{%s}" % ", ".join(
            cls.elements(v) if cls.type_of(values).startswith("[]") else cls.translate(v) for v in values)

    @classmethod
    def translate_list(cls, value):
        return f"[]{cls.type_of(value)}{cls.elements(value)}"

    @classmethod
    def translate_dict(cls, value):
        pairs = (f"{cls.translate_escaped_str(k)}: {cls.translate(v)}" for k, v in value.items())
        return f"map[string]{cls.type_of(value.values())}{{{', '.join(pairs)}}}"

    @classmethod
    def inspect(cls, parameters_cell):
        """What the cell declares: papermill warns of other names, and lists these
        for --help-notebook."""
        declared, found, block = {}, [], ""
        for line in parameters_cell["source"].splitlines():
            if opened := BLOCK.match(line):
                block = opened[1]
            elif line.strip().startswith(")"):
                block = ""
            elif m := DECLARATION.match(line):
                names = [name.strip() for name in m["names"].split(",")]
                for name, value in zip(names, separate(m["value"], len(names))):
                    declared[name] = m["kind"] or block or "var"
                    found.append(Parameter(name=name, inferred_type_name=(m["type"] or inferred(value)).strip(), default=value, help=m["help"] or ""))
        seen.declared = declared
        return found

    @classmethod
    def comment(cls, text):
        return "\n".join("// " + line for line in text.splitlines())


for name in ("gocuda", "go"):
    papermill_translators.register(name, GoTranslator)
