"""Writes papermill's parameters as Go, for notebooks of the gocuda kernel."""

import json
import math
import re

from papermill.engines import NBClientEngine as Engine  # papermill's own, under our name too
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

# Variables with their values, in a var block or by themselves, and what is said
# of them.
DECLARATION = re.compile(
    r"""^\s*(?:var\s+)?(?P<names>[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)(?P<type>\s+[^\s=:/][^=:/]*?)?\s*:?=\s*"""
    r"""(?P<value>(?:"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])*'|[^"`'/]|/(?!/))+?)\s*(?://\s*(?P<help>.*))?$""")


class GoTranslator(Translator):
    """Assigns to the variables that the cell tagged parameters declares: they
    keep the types that it gave them, and a name that it does not declare is an
    error of the cell."""

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
        found = filter(None, map(DECLARATION.match, parameters_cell["source"].splitlines()))
        return [Parameter(name=name.strip(), inferred_type_name=(m["type"] or "None").strip(), default=m["value"], help=m["help"] or "")
                for m in found for name in m["names"].split(",")]

    @classmethod
    def comment(cls, text):
        return "\n".join("// " + line for line in text.splitlines())


for name in ("gocuda", "go"):
    papermill_translators.register(name, GoTranslator)
