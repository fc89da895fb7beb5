"""terse.py - shrinks gnuplot's SVG, which repeats attributes and groups every label.

    course.py terse <gnuplot.svg >picture.svg

Lines and labels get the attributes of their groups; neighbours with equal attributes become one path or group.
Coordinates are rounded to a tenth of a pixel.
"""
import re
import sys
import xml.etree.ElementTree as ET
from itertools import groupby
from xml.sax.saxutils import escape

SVG, LINK, SPACE = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href", "xml:space"
USUAL = {"stroke-linecap": "butt", "stroke-linejoin": "miter", "stroke-width": "1", "font-family": "Helvetica",
         "stroke": "none", "fill": "none", "fill-opacity": "1"}
INHERITED = ("fill", "fill-opacity", "color", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
             "shape-rendering", "font-family", "font-size", "text-anchor", "font-weight", "font-style")


def short(number):
    text = f"{float(number):.1f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def numbers(text):
    text = re.sub(r"-?\d+\.\d+", lambda found: short(found[0]), text)
    return re.sub(r"\s+", " ", re.sub(r"\s*([A-Za-z])\s*", r"\1", text)).strip()


def colour(text):
    rgb = re.fullmatch(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\s*\)", text)
    return "#%02x%02x%02x" % tuple(map(int, rgb.groups())) if rgb else text.lower()


def attributes_of(element, given):
    own = {key: value.strip() for key, value in element.items()}
    for key in ("fill", "stroke", "color"):
        if key in own:
            own[key] = colour(own[key])
    merged = {**given, **own}
    if merged.get("stroke") == "currentcolor":
        merged["stroke"] = merged.get("color", "black")
    if "stroke-width" in merged:
        merged["stroke-width"] = short(merged["stroke-width"])
    return merged


def label(element, given, transform):
    parts = [element.text or ""]
    for part in element:
        own = {key: value for key, value in part.items() if (key, value) != ("font-family", "Helvetica")}
        own = {SPACE if key.endswith("}space") else key: value for key, value in own.items()}
        text = escape(part.text or "")
        parts.append(tag("tspan", own, text) if own else text)
        parts.append(escape((part.tail or "").strip("\n\t")))
    style = {key: given[key] for key in INHERITED if key in given and key not in ("color", "stroke", "stroke-width")}
    style["font-size"] = short(style["font-size"])
    if style.get("text-anchor") == "start":
        del style["text-anchor"]
    where = re.fullmatch(r"translate\(([-\d.]+),\s*([-\d.]+)\)(.*)", transform)
    place = {"x": short(where[1]), "y": short(where[2])}
    if where[3]:
        turn = re.search(r"[-\d.]+", where[3])[0]
        place["transform"] = f"rotate({short(turn)} {place['x']} {place['y']})"
    return "text", style, place, "".join(parts).strip("\n\t")


def polygon(points):
    """A polygon's path; the shortest form for upright rectangles."""
    left, top = min(x for x, _ in points), min(y for _, y in points)
    right, bottom = max(x for x, _ in points), max(y for _, y in points)
    if len(points) == 4 and {(left, top), (left, bottom), (right, top), (right, bottom)} == set(points):
        wide, high = (short(float(short(b)) - float(short(a))) for a, b in ((left, right), (top, bottom)))
        return f"M{short(left)} {short(top)}h{wide}v{high}h-{wide}z"
    return "M" + " ".join(f"{short(x)},{short(y)}" for x, y in points) + "z"


def shape(name, merged):
    if name == "polygon":
        merged["d"] = polygon([tuple(map(float, point.split(","))) for point in merged.pop("points").split()])
    style = {key: merged[key] for key in INHERITED if key in merged and not key.startswith(("font", "text"))}
    own = {key: value for key, value in merged.items() if key not in INHERITED and key != "class"}
    if name == "use":
        style = {"color": style.get("color", "black"), "stroke-dasharray": style.get("stroke-dasharray", "")}
        style = {key: value for key, value in style.items() if value}
        own = {"xlink:href" if key == LINK else key: value for key, value in own.items()}
        own["transform"] = re.sub(r"\.0+(?=\D)", "", numbers(own["transform"]))
        return name, style, own, None
    style.pop("color", None)
    if style.get("stroke", "none") == "none":
        style.pop("stroke-width", None)
    if "d" in own:
        own["d"] = numbers(own["d"])
        name = "path"
    else:
        own = {key: short(value) if re.fullmatch(r"-?[\d.]+", value) else value for key, value in own.items()}
    return name, style, own, None


def drawn(element, given, transform=""):
    """Shapes and labels below it, in order: kind, style, place, text."""
    for child in element:
        name = child.tag.replace(SVG, "")
        if name in ("defs", "title", "desc"):
            continue
        merged = attributes_of(child, given)
        if name == "g":
            moved = merged.pop("transform", "")
            yield from drawn(child, {key: merged[key] for key in INHERITED if key in merged}, moved)
        elif name == "text":
            yield label(child, merged, transform)
        elif name != "path" or re.search(r"[LlHhVvCcz]", merged["d"]) or len(merged["d"].split()) > 1:
            yield shape(name, merged)


def tag(name, attributes, text=None):
    own = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if USUAL.get(key) != value)
    return f"<{name}{own}/>" if text is None else f"<{name}{own}>{text}</{name}>"


def is_solid(item):
    return item[0] == "path" and item[1].get("fill", "none") != "none" and item[1].get("stroke", "none") == "none"


def box(item):
    upright = re.fullmatch(r"M([-\d.]+) ([-\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", item[2]["d"])
    values = [float(value) for value in (upright.groups() if upright else re.findall(r"-?[\d.]+", item[2]["d"]))]
    if upright:
        values[2:] = values[0] + values[2], values[1] + values[3]
    return min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])


def apart(items):
    """Are these shapes' bounding boxes disjoint, except for shared edges?"""
    boxes = [box(item) for item in items]
    return all(a[2] <= b[0] + 0.1 or b[2] <= a[0] + 0.1 or a[3] <= b[1] + 0.1 or b[3] <= a[1] + 0.1
               for k, a in enumerate(boxes) for b in boxes[:k])


def in_order(items):
    """Groups labels, and disjoint solid boxes, by style: their order does not matter."""
    for _, run in groupby(items, lambda item: "text" if item[0] == "text" else "solid" if is_solid(item) else "other"):
        run = list(run)
        if run[0][0] == "text" or (is_solid(run[0]) and len(run) < 1000 and apart(run)):
            run.sort(key=lambda item: str(item[1]))
        yield from run


def written(items):
    for (name, style), run in groupby(in_order(items), lambda item: (item[0], item[1])):
        run = list(run)
        see_through = "fill-opacity" in style or "stroke-opacity" in style
        if name == "path" and not see_through and all(item[2].keys() == {"d"} for item in run):
            yield tag(name, {**style, "d": "".join(item[2]["d"] for item in run)})
        elif len(run) == 1:
            yield tag(name, {**style, **run[0][2]}, run[0][3])
        else:
            yield tag("g", style, "\n".join(["", *(tag(name, item[2], item[3]) for item in run), ""]))


def definitions(root, used):
    """The point symbols that the picture uses, and those that they use."""
    found = {e.get("id"): e for e in root.iter() if (e.get("id") or "").startswith("gp")}
    wanted = [name for name in found if f"#{name}" in used]
    for name in wanted:
        base = (found[name].get(LINK) or "")[1:]
        if base and base not in wanted:
            wanted.append(base)
    lines = []
    for name in sorted(wanted):
        own = {"xlink:href" if key == LINK else key: value for key, value in found[name].items()}
        lines.append("<" + found[name].tag.replace(SVG, "") +
                     "".join(f' {key}="{value}"' for key, value in own.items()) + "/>")
    return ["<defs>", *lines, "</defs>"] if lines else []


def terse(text):
    root = ET.fromstring(text.encode())
    version = re.search(r"<!-- gnuplot .*? -->", text)
    lines = list(written(drawn(root, {"fill": "none"})))
    link = ' xmlns:xlink="http://www.w3.org/1999/xlink"' if any("xlink:" in line for line in lines) else ""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg"{link} viewBox="{root.get("viewBox")}" font-family="Helvetica" '
            'fill="none">')
    return "\n".join([head, *([version[0]] if version else []), *definitions(root, "\n".join(lines)), *lines,
                      "</svg>", ""])


def main(arguments):
    if arguments:
        print(f"terse: expected a picture on standard input and nothing else, found '{arguments[0]}'", file=sys.stderr)
        return 2
    sys.stdout.write(terse(sys.stdin.read()))
    return 0
