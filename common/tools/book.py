"""book.py - the pages as an HTML book, readable without a network or a server.

    course.py book make BUILD PAGE...     BUILD/book
    course.py book check BUILD PAGE...    tries it in a browser: browser.py

Built by Sphinx with Furo and MyST from PyPI, in BUILD/book-tools, with KaTeX: MyST reads GitHub's Markdown, and
Sphinx's search needs no server. Main path first, with the tour before chapter 01, then each chapter's appendices.
"""
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from page import MAIN_PATH, Page

HERE = Path(__file__).parent / "book"
PATH = [MAIN_PATH[0], "common/docs/TOUR.md", *MAIN_PATH[1:]]
TITLE = "FlashAttention from a three-line softmax"
AS_THEY_ARE = {".html", ".npy", ".svg"}  # browsers show them, or they are not text
NOT_SHOWN = {"__pycache__", "build"}
FOR_KERNELS = "cuda|kernels|--device|--dtype|--threads"  # commands that browsers cannot run
MARGIN = 18  # columns in which programs print the name of a part
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>{styles}</head><body class="file"><script>
document.body.dataset.theme = localStorage.getItem('theme') || 'auto'</script>
<p><a href="{top}README.html">{book}</a> / {title}</p>
"""


class Failed(Exception):
    pass


# ---- the order -------------------------------------------------------------------------------------

def linked(path):
    for _, line in Page(path).lines:
        for link in re.findall(r"\]\(([^)#]+)", line):
            if ":" not in link:
                yield os.path.normpath(Path(path).parent / link)


def contents(pages):
    """(heading, its pages): the main path, then the other pages, a folder at a time."""
    groups = [("The course", [page for page in PATH if page in pages])]
    left = [page for page in pages if page not in PATH]
    for folder in dict.fromkeys(page.split("/")[0] for page in left):
        here, found = [page for page in left if page.startswith(f"{folder}/")], []
        for page in [*(page for page in MAIN_PATH if page.startswith(f"{folder}/")), *here]:
            ways = [page]
            while ways:
                page = ways.pop(0)
                if page in here and page not in found:
                    found.append(page)
                ways += [link for link in dict.fromkeys(linked(page)) if link in here and link not in found + ways]
        groups.append((f"More on chapter {folder[:2]}" if folder[:2].isdigit() else "For all chapters", found))
    return groups


# ---- the files that pages link to ------------------------------------------------------------------

def address(path):
    if path.is_dir():
        return path / "index.html"
    return path if path.suffix in AS_THEY_ARE else path.with_name(path.name + ".html")


def files_of(pages):
    found, todo = {}, [Path(link) for page in pages for link in linked(page) if link not in pages]
    while todo:
        path = todo.pop()
        if path not in found and path.exists():
            found[path] = sorted(inside for inside in path.iterdir() if inside.name not in NOT_SHOWN
                                 and not inside.name.startswith(".")) if path.is_dir() else []
            todo += [inside for inside in found[path] if inside.as_posix() not in pages]
    return found


def show(path, inside, pages, book):
    page = book / address(path)
    page.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in AS_THEY_ARE:
        shutil.copyfile(path, page)
        if path.suffix == ".html":
            text = re.sub(r'href="([^":]+)\.md"', r'href="\1.html" target="_top"', path.read_text(encoding="utf-8"))
            page.write_text(text, encoding="utf-8")
        return
    if path.is_dir():
        links = [(Path(there.name).with_suffix(".html") if there.as_posix() in pages else
                  address(there).relative_to(path), there.name + "/" * there.is_dir()) for there in inside]
        body = "<ul>" + "".join(f'<li><a href="{link}">{name}</a></li>\n' for link, name in links) + "</ul>"
    else:
        from pygments import formatters, highlight, lexers, util
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            lexer = lexers.get_lexer_for_filename(path.name)
        except util.ClassNotFound:
            lexer = lexers.TextLexer()
        body = highlight(text, lexer, formatters.HtmlFormatter())
    top = "../" * (len(page.relative_to(book).parts) - 1)
    styles = "".join(f'<link rel="stylesheet" href="{top}_static/{style}">'
                     for style in ("styles/furo.css", "pygments.css", "book.css"))
    page.write_text(HEAD.format(title=html.escape(str(path)), styles=styles, top=top, book=TITLE) + body,
                    encoding="utf-8")


# ---- the pages -------------------------------------------------------------------------------------

def without_margin(text):
    """A program's report without its left margin: the name of a part gets a line of its own."""
    lines = [(line[:MARGIN].rstrip(), line[MARGIN:]) for line in text.split("\n")]
    if not any(rest and not name for name, rest in lines) or any(
            name and (name[0] == " " or "  " in name or rest and len(name) == MARGIN) for name, rest in lines):
        return text
    return "\n".join("\n".join(filter(None, line)) for line in lines)


def to_run(language, text, before, programs):
    """The commands of a block that browsers can run: a script's lines, or that which printed the text."""
    lines, program = re.findall(r"^<!-- text: (build/0[^|]*?) *(?:\||-->)", before) if language == "text" else [], ""
    for line in text.replace("\\\n", "").split("\n") if language == "sh" else []:
        program = next(iter(re.findall(r"^cc .*? (0\d_\w+)/", line)), program)
        lines.append(re.sub(r"^\./a\.out", f"build/{program}", line))
    return [" ".join(line.split(" #")[0].split()) for line in lines
            if re.split("[/ ]", line)[0] == "build" and re.split("[/ ]", line)[1] in programs
            and not re.search(FOR_KERNELS, line)]


def run_in_page(app, document):
    """A form (book/run.js) below each block of commands whose programs were compiled for browsers."""
    from docutils import nodes
    number = 0
    for block in list(document.findall(nodes.literal_block)):
        place = block.parent.index(block)
        before = block.parent[place - 1].astext() if place else ""
        for line in to_run(block.get("language"), block.astext(), before, app.config.programs):
            number, place = number + 1, place + 1
            form = f'<form class="run" id="run-{number}" data-line="{html.escape(line)}"></form>'
            block.parent.insert(place, nodes.raw("", form, format="html"))


def lead_to_files(app, document):
    """Links to files and folders lead to the pages that show them. A link text that is a page's file name becomes its
    title, reports lose their margin, and numbers do not break across lines.
    """
    from docutils import nodes
    from sphinx import addnodes
    folder = Path(app.env.docname).parent
    for link in [*document.findall(addnodes.download_reference), *document.findall(addnodes.pending_xref)]:
        path = Path(os.path.normpath(folder / link["reftarget"]))
        if link.get("refdomain") == "doc":
            path = Path(link["reftarget"] + ".md")
        if link["reftarget"] in app.env.found_docs or not path.exists():
            link["refexplicit"] = link.get("refexplicit") and link.astext() != path.name
            continue
        there = Path(os.path.relpath(address(path), folder)).as_posix()
        link.replace_self(nodes.reference("", "", *link.children, refuri=there))
        if path.suffix == ".html":
            frame = f'<iframe class="page" src="{there}" title="{path.name}" loading="lazy"></iframe>'
            document.children[-1].append(nodes.raw("", frame, format="html"))
    for block in list(document.findall(nodes.literal_block)):
        if block.get("language") == "text":
            block.rawsource = without_margin(block.astext())
            block[:] = [nodes.Text(block.rawsource)]
    for text in list(document.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.FixedTextElement, nodes.literal, nodes.math, nodes.raw)):
            text.parent.replace(text, nodes.Text(re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\N{NO-BREAK SPACE}", text)))


def describe(app, name, template, context, document):
    """A page's first sentence, for search engines and previews of links."""
    from docutils import nodes
    paragraphs = document.findall(nodes.paragraph) if document else ()
    text = " ".join(next((p.astext() for p in paragraphs if not list(p.findall(nodes.image))), TITLE).split())
    sentence = html.escape(re.split(r"(?<=[.?]) ", text)[0])
    title = html.escape(app.env.titles[name].astext() if name in app.env.titles else TITLE)
    context["metatags"] = context.get("metatags", "") + (
        f'<meta name="description" content="{sentence}"><meta property="og:title" content="{title}">'
        f'<meta property="og:description" content="{sentence}"><meta property="og:type" content="article">')


def formula(tag):
    """Writes formulas as book.js expects them."""
    def visit(writer, node):
        from docutils.nodes import SkipNode
        writer.body.append(f'<{tag} class="math">{html.escape(node.astext())}</{tag}>')
        raise SkipNode
    return visit, None


def put_in_order(app, name, text):
    """Adds the contents to the front page, for Sphinx's menu and next/previous links. In a GitHub workflow the menu
    starts with a link to the repository.
    """
    if name == app.config.root_doc:
        for heading, pages in contents(app.config.include_patterns):
            names = "".join(f"/{page[:-3]}\n" for page in pages if page != MAIN_PATH[0])
            if MAIN_PATH[0] in pages and "GITHUB_REPOSITORY" in os.environ:
                names = "The code <{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}>\n".format(**os.environ) + names
            text[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{names}```\n"


def setup(app):
    """Called by Sphinx: this module is also its extension."""
    app.add_html_math_renderer("katex", inline_renderers=formula("span"), block_renderers=formula("div"))
    app.connect("source-read", put_in_order)
    app.connect("env-get-outdated", lambda app, *_: [app.config.root_doc])  # other links, another order
    app.connect("doctree-read", lead_to_files, priority=100)  # before Sphinx copies the files
    app.add_config_value("programs", [], "env")
    app.connect("doctree-read", run_in_page)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True,
            "env_version": Path(__file__).read_text(encoding="utf-8")}  # invalidates Sphinx's cache when this changes


def make(build, pages):
    import wagtailkatex
    from sphinx.application import Sphinx
    katex = Path(wagtailkatex.__file__).parent / "static/wagtailkatex/katex"
    part, book, wasm = build / "book.part", build / "book", build / "wasm/static"
    programs = sorted(path.stem for path in wasm.glob("run/*.js"))
    shutil.rmtree(part, ignore_errors=True)
    app = Sphinx(os.getcwd(), None, part, build / "book-tools/doctrees", "html", status=None, warningiserror=True,
                 parallel=os.cpu_count(), confoverrides={
                     "extensions": ["myst_parser", "book"], "include_patterns": pages,
                     "exclude_patterns": [os.path.relpath(build), ".*"], "root_doc": MAIN_PATH[0][:-3],
                     "project": TITLE, "html_title": TITLE, "html_theme": "furo", "html_math_renderer": "katex",
                     "myst_enable_extensions": ["dollarmath"], "myst_heading_anchors": 6, "smartquotes": False,
                     "html_static_path": [str(HERE), str(katex), *[str(wasm)] * bool(programs)], "programs": programs,
                     "html_css_files": ["katex.min.css", "book.css"],
                     "html_js_files": [("katex.min.js", {"defer": "defer"}), ("book.js", {"defer": "defer"}),
                                       *[("run.js", {"defer": "defer"})] * bool(programs)],
                     "html_copy_source": False, "html_use_index": False, "html_show_copyright": False})
    app.build()
    if app.statuscode:
        raise Failed("expected pages that Sphinx accepts")
    for path, inside in files_of(pages).items():
        show(path, inside, pages, part)
    shutil.copyfile(part / "README.html", part / "index.html")
    shutil.rmtree(book, ignore_errors=True)
    part.rename(book)
    print(f"{os.path.relpath(book)}/index.html is there: open it in a browser")


# ---- what it takes ---------------------------------------------------------------------------------

def fetch(build):
    """The Python with the packages, which it fetches once."""
    packages, tools = HERE / "packages.txt", build / "book-tools"
    python, stamp = tools / "bin/python", tools / "packages.txt"
    if stamp.exists() and stamp.read_text() == packages.read_text():
        return python
    if sys.version_info < (3, 11):
        raise Failed(f"expected Python 3.11 or later, found {sys.version.split()[0]}")
    print(f"fetching Sphinx into {os.path.relpath(tools)}")
    for command, needs in (
            ([sys.executable, "-m", "venv", "--clear", tools],
             "Python's module venv (on Debian and Ubuntu: package python3-venv)"),
            ([python, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", "-r", packages],
             f"the packages in {os.path.relpath(packages)} from PyPI")):
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ended.returncode:
            last = (ended.stdout.strip().splitlines() or ["no output"])[-1]
            raise Failed(f"expected {needs}, but: {last}")
    shutil.copyfile(packages, stamp)
    return python


def main(arguments):
    if len(arguments) < 3 or arguments[0] not in ("make", "check"):
        print(f"book: expected make or check, a folder, and pages; found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    what, build, pages = arguments[0], Path(arguments[1]).absolute(), arguments[2:]
    try:
        if what == "check":
            import browser
            return browser.check(build / "book", pages)
        python = fetch(build)
        if Path(sys.prefix) != build / "book-tools":
            return subprocess.run([python, "-B", *sys.argv]).returncode
        make(build, pages)
    except (Failed, OSError) as failed:
        print(f"book: {failed}", file=sys.stderr)
        return 2
    return 0
