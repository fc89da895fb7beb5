import contextlib
import io
import os
import unittest
from pathlib import Path

from folder import InAFolder  # sets sys.path

import book
import browser
import stepper

PAGES = {
    "README.md": "# A course\n",
    "03_online_softmax/README.md": "[b](pages/b.md#x), [a web page](https://a.org), and [its code](../code/a.c)\n",
    "03_online_softmax/exercise/README.md": "# E\n",
    "03_online_softmax/pages/a.md": "[e](../exercise/README.md)\n",
    "03_online_softmax/pages/b.md": "[a](a.md)\n```c\n[not](a.link)\n```\n",
    "common/README.md": "[its folder](../code)\n",
    "common/docs/TOUR.md": "# A tour\n",
}


class Book(InAFolder):
    def setUp(self):
        super().setUp()
        for path, text in {**PAGES, "code/a.c": "", "code/more/b.npy": "", "code/.hidden": ""}.items():
            self.write(path, text)

    def test_the_main_path_comes_first_with_the_tour_and_then_the_other_pages_as_links_lead_to_them(self):
        chapter = "03_online_softmax"
        self.assertEqual(book.contents(list(PAGES)), [
            ("The course", ["README.md", "common/docs/TOUR.md", f"{chapter}/README.md"]),
            ("More on chapter 03", [f"{chapter}/pages/b.md", f"{chapter}/pages/a.md", f"{chapter}/exercise/README.md"]),
            ("For all chapters", ["common/README.md"])])

    def test_the_files_are_those_that_pages_link_to_and_what_is_in_their_folders(self):
        self.assertEqual({str(path) for path in book.files_of(list(PAGES))},
                         {"code", "code/a.c", "code/more", "code/more/b.npy"})

    def test_a_folder_is_a_list_of_links_to_its_files_and_pages(self):
        self.write("code/README.md", "# C\n")
        self.write("code/page.html", '<a href="../README.md"><a href="https://a.org/b.md">')
        pages = [*PAGES, "code/README.md"]
        for path, inside in book.files_of(pages).items():
            if path.suffix != ".c":  # needs Pygments
                book.show(path, inside, pages, Path("book"))
        text = Path("book/code/index.html").read_text(encoding="utf-8")
        for link in ("a.c.html", "more/index.html", "page.html", "README.html", "../_static/book.css"):
            self.assertIn(f'href="{link}"', text)
        self.assertTrue(Path("book/code/more/b.npy").exists())
        self.assertEqual(Path("book/code/page.html").read_text(encoding="utf-8"),
                         '<a href="../README.html" target="_top"><a href="https://a.org/b.md">')

    def test_commands_of_c_programs_run_in_the_browser(self):
        script = "cc -O2 -I. 03_b/*.c 02_a/a.c -lm\n./a.out --rows 2  # x\nbuild/02_a --q q.npy \\\n    --k k.npy\nmake 03\nbuild/02_a --device gpu"
        run = lambda language, text, before="": book.to_run(language, text, before, ["02_a", "03_b"])
        self.assertEqual(run("sh", script), ["build/03_b --rows 2", "build/02_a --q q.npy --k k.npy"])
        self.assertEqual(run("text", "1 2", "<!-- text: build/02_a --trace | sed 1d -->"), ["build/02_a --trace"])
        self.assertEqual(run("text", "1 2", "<!-- timed: build/02_a --bench -->"), [])
        self.assertEqual(run("c", "build/02_a"), [])

    def test_reports_lose_their_margin_and_nothing_else_does(self):
        margin = " " * book.MARGIN
        self.assertEqual(book.without_margin(f"{'Steps':18} # step\n{margin} 1 fa2\n\n{'By hand':18}x\n{margin}y"),
                         "Steps\n # step\n 1 fa2\n\nBy hand\nx\ny")
        for text in ("CUDA on the CPU: data race\n    in kernel", f"thread 0    thread 1\n{margin}x", f"  a\n{margin}b", "N = 3"):
            self.assertEqual(book.without_margin(text), text)

    def test_links_that_lead_nowhere_are_named(self):
        page, other = Path("code/a.c").absolute(), Path("README.md").absolute()
        ids = {page: {"here"}, other: set()}
        links = ["https://a.org", *(path.as_uri() + end for path, end in (
            (page, "#here"), (other, ""), (page, "#gone"), (other, "#here"), (page.with_name("b"), "")))]
        self.assertEqual(list(browser.dead(page, links, ids, Path.cwd())), [
            "no heading gone in code/a.c", "no heading here in README.md", "there is no b"])
        self.assertEqual(list(browser.dead(page, [other.as_uri()], ids, page.parent)), ["there is no ../README.md"])

    def test_a_wrong_call_is_refused_and_a_missing_browser_is_a_failure_only_where_it_is_required(self):
        with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(book.main(["bind", "build", "README.md"]), 2)
            os.environ["CHROMIUM"] = "no_such_browser"
            self.addCleanup(os.environ.pop, "CHROMIUM")
            self.addCleanup(os.environ.pop, "BROWSER", None)
            for required, status in (("", 0), ("required", 1)):
                os.environ["BROWSER"] = required
                self.assertEqual(book.main(["check", "build", "README.md"]), status)
                self.assertEqual(stepper.main(["build", "result"]), status)
                self.assertEqual(Path("result").read_text(), f"0 {status} {1 - status}\n")
            self.assertEqual(stepper.main(["build"]), 2)
        self.assertEqual(err.getvalue(),
                         "book: expected make or check, a folder, and pages; found 'bind build README.md'\n"
                         "stepper: expected a folder and a file, found 'build'\n")
        self.assertEqual(out.getvalue().count("skipped: no chromium here"), 4)


if __name__ == "__main__":
    unittest.main()
