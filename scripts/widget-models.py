#!/usr/bin/env python3
"""Writes kernel/widgets/models.json: the properties of ipywidgets' models with their
defaults, by the name of their class, as the installed ipywidgets has them.

    python scripts/widget-models.py >kernel/widgets/models.json
"""
import datetime
import inspect
import json
import sys

import ipywidgets
from ipywidgets import widgets
from ipywidgets.widgets import widget_layout, widget_link, widget_style

# What can only be made with arguments, or is made of others.
ARGUMENTS = {
    "Link": lambda: widget_link.Link((widgets.IntText(), "value"), (widgets.IntText(), "value")),
    "DirectionalLink": lambda: widget_link.DirectionalLink((widgets.IntText(), "value"), (widgets.IntText(), "value")),
    "SelectionRangeSlider": lambda: widgets.SelectionRangeSlider(options=["a"]),
    "SelectionSlider": lambda: widgets.SelectionSlider(options=["a"]),
}
SKIP = {"GridspecLayout", "AppLayout", "TwoByTwoLayout", "Controller", "ControllerAxis", "ControllerButton", "interactive", "DOMWidget", "CoreWidget", "ValueWidget", "Widget"}


def plain(value):
    """A state as JSON: other models by their class, bytes as null."""
    if isinstance(value, (bytes, memoryview)):
        return None
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, str) and value.startswith("IPY_MODEL_"):
        return {"model": type(ipywidgets.Widget.widgets[value[len("IPY_MODEL_"):]]).__name__}
    if isinstance(value, (datetime.date, datetime.time, datetime.datetime)):
        return None
    return value


models = {}
todo = dict(inspect.getmembers(widgets, inspect.isclass))
todo.update(inspect.getmembers(widget_style, inspect.isclass))
todo.update(inspect.getmembers(widget_link, inspect.isclass))
todo.update(inspect.getmembers(widget_layout, inspect.isclass))


def add(name, instance):
    models[name] = {k: plain(v) for k, v in sorted(instance.get_state().items())}
    for k in ("layout", "style"):
        other = getattr(instance, k, None)
        if isinstance(other, ipywidgets.Widget) and type(other).__name__ not in models:
            add(type(other).__name__, other)


for name, cls in sorted(todo.items()):
    if not issubclass(cls, ipywidgets.Widget) or name in SKIP or name.startswith("_"):
        continue
    make = ARGUMENTS.get(name, cls)
    instance = make()
    state = instance.get_state()
    if state.get("_model_name") in (None, "WidgetModel", "DOMWidgetModel"):
        continue
    add(name, instance)
json.dump({"ipywidgets": ipywidgets.__version__, "models": models}, sys.stdout, sort_keys=True, separators=(",", ":"))
print()
