"""The directive walk draws who calls whom, from top to bottom, as an SVG that takes
the page's colors. Its first line names the columns, the others are steps:

    kernel | session | evaluator
    kernel -> session: the cell
    session: a step of one column
"""

import html
import re
import textwrap

from docutils import nodes
from docutils.parsers.rst import Directive

COLUMN, LINE, SIZE = 183, 17, 13
STEP = re.compile(r"^(?P<a>[^:>]+?)\s*(?:->\s*(?P<b>[^:]+?)\s*)?:\s*(?P<text>.+)$")


def draw(columns, steps, title):
    width = COLUMN * len(columns)
    middle = {name: COLUMN * i + COLUMN // 2 for i, name in enumerate(columns)}
    parts, y = [], 62

    def text(x, y, words, extra=""):
        parts.append(f'<text x="{x}" y="{y}" text-anchor="middle"{extra}>{html.escape(words)}</text>')

    for number, (a, b, words) in enumerate(steps, 1):
        words = f"{number}. {words}"
        if b and b != a:
            span = abs(middle[b] - middle[a])
            lines = textwrap.wrap(words, max(20, int((span - 20) / 6.7)))
            for line in lines:
                text((middle[a] + middle[b]) // 2, y, line)
                y += LINE
            end = middle[b] + (-6 if middle[b] > middle[a] else 6)
            parts.append(f'<path class="arrow" d="M{middle[a]} {y - 8}H{end}"/>')
            tip = 8 if middle[b] > middle[a] else -8
            parts.append(f'<path class="tip" d="M{middle[b]} {y - 8}l{-tip} -4v8z"/>')
            y += LINE
        else:
            lines = textwrap.wrap(words, int((COLUMN - 26) / 6.7))
            height = LINE * len(lines) + 8
            parts.append(f'<rect class="note" x="{middle[a] - COLUMN // 2 + 6}" y="{y - 15}" width="{COLUMN - 12}" height="{height}" rx="4"/>')
            for line in lines:
                text(middle[a], y, line)
                y += LINE
            y += 14
    head = []
    for name in columns:
        x = middle[name]
        head.append(f'<path class="life" d="M{x} 36V{y - 4}"/>')
        head.append(f'<rect class="head" x="{x - COLUMN // 2 + 6}" y="6" width="{COLUMN - 12}" height="30" rx="6"/>')
        head.append(f'<text class="name" x="{x}" y="26" text-anchor="middle">{html.escape(name)}</text>')
    said = html.escape(title, quote=True)
    return (
        f'<div class="walk" tabindex="0" role="group" aria-label="{said}"><svg role="img" aria-label="{said}" width="{width}" height="{y}" viewBox="0 0 {width} {y}" '
        f'font-size="{SIZE}" xmlns="http://www.w3.org/2000/svg">' + "".join(head) + "".join(parts) + "</svg></div>"
    )


class Walk(Directive):
    has_content = True
    final_argument_whitespace = True
    required_arguments = 1

    def run(self):
        lines = [line.strip() for line in self.content if line.strip()]
        columns = [name.strip() for name in lines[0].split("|")]
        steps = []
        for line in lines[1:]:
            m = STEP.match(line)
            if not m or m["a"] not in columns or m["b"] and m["b"] not in columns:
                raise self.error(f"walk: no step of {', '.join(columns)}: {line}")
            steps.append((m["a"], m["b"], m["text"]))
        return [nodes.raw("", draw(columns, steps, self.arguments[0]), format="html")]


def setup(app):
    app.add_directive("walk", Walk)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
