import io
import sys
import unittest
from pathlib import Path
from unittest import mock

TOOLS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))

import terse  # noqa: E402

GROUP = '<g fill="none" color="black" stroke="currentColor" stroke-width="1.00" stroke-linecap="butt">'
LABEL = ('<g transform="translate({})" stroke="none" fill="rgb(118,126,135)" font-family="Helvetica" font-size="15.00" '
         'text-anchor="end">\n\t<text><tspan font-family="Helvetica" >{}</tspan></text>\n</g>')


def drawn(*shapes):
    return terse.terse('<svg viewBox="0 0 76 40" xmlns="http://www.w3.org/2000/svg" '
                       'xmlns:xlink="http://www.w3.org/1999/xlink">\n<!-- gnuplot 5.4 patchlevel 4 -->\n'
                       + "\n".join(shapes) + "\n</svg>\n")


class Terse(unittest.TestCase):
    def test_no_picture_of_the_course_has_more_than_40_000_bytes(self):
        pictures = [path for path in TOOLS.parent.parent.glob("0*/**/*.svg")]
        self.assertGreater(len(pictures), 20)
        self.assertEqual([str(path) for path in pictures if path.stat().st_size > 40000], [])

    def test_the_gnuplot_that_drew_it_stays_named(self):
        self.assertIn("<!-- gnuplot 5.4 patchlevel 4 -->", drawn())

    def test_a_label_keeps_its_words_and_its_place(self):
        self.assertIn('<text fill="#767e87" font-size="15" text-anchor="end" x="137.1" y="71.7">a &lt; b</text>',
                      drawn(GROUP, LABEL.format("137.05,71.67", "a &lt; b"), "</g>"))

    def test_a_turned_label_turns_about_its_place(self):
        self.assertIn('x="21.5" y="200" transform="rotate(-90 21.5 200)"',
                      drawn(LABEL.format("21.48,200.00) rotate(-90.00", "loss")))

    def test_raised_letters_stay_raised(self):
        label = LABEL.format("1,2", "10").replace("</text>", '<tspan font-size="12.0" dy="-7.50px">4</tspan></text>')
        self.assertIn('>10<tspan font-size="12.0" dy="-7.50px">4</tspan></text>', drawn(label))

    def test_labels_of_one_kind_share_a_group(self):
        text = drawn(LABEL.format("1,2", "0"), LABEL.format("1,5", "4"))
        self.assertIn('text-anchor="end">\n<text x="1" y="2">0</text>\n<text x="1" y="5">4</text>\n</g>', text)

    def test_lines_of_one_colour_become_one_path(self):
        text = drawn(GROUP, "<path stroke='rgb( 10, 20,  30)'  d='M1.04,2.06 L3.00,4.00  '/>",
                     "<path stroke='rgb( 10, 20,  30)'  d='M5.00,6.00 L7.00,8.00  '/>", "</g>")
        self.assertIn('<path stroke="#0a141e" d="M1,2.1L3,4M5,6L7,8"/>', text)

    def test_lines_keep_their_order_where_their_colours_differ(self):
        text = drawn(GROUP, *(f"<path stroke='rgb({red},0,0)' d='M0,0 L1,1'/>" for red in (1, 2, 1)), "</g>")
        self.assertEqual(text.count("<path"), 3)

    def test_boxes_of_one_colour_become_one_path_if_none_lies_over_another(self):
        box = "<polygon fill = 'rgb(9,9,{})' points = '{},0.00 {},0.00 {},5.00 {},5.00 '/>"
        apart = [box.format(c, x, x + 5, x + 5, x) for c, x in ((1, 0), (2, 5), (1, 10))]
        over = [box.format(c, x, x + 5, x + 5, x) for c, x in ((1, 0), (2, 2), (1, 4))]
        self.assertIn('d="M0 0h5v5h-5zM10 0h5v5h-5z"', drawn(*apart))
        self.assertEqual(drawn(*over).count("<path"), 3)

    def test_shapes_that_let_others_through_are_not_joined(self):
        shape = "<path fill='rgb(1,2,3)' fill-opacity='0.5' d='M0,0 L5,0 L5,5 Z'/>"
        self.assertEqual(drawn(shape, shape).count(" d="), 2)

    def test_only_signs_that_are_used_are_defined(self):
        text = drawn("<defs>", "<path id='gpPt0' d='M-1,0 h2'/>", "<circle id='gpPt5' cx='0' cy='0' r='1'/>",
                     "<use xlink:href='#gpPt5' id='gpPt6' fill='currentColor' stroke='none'/>", "</defs>",
                     "<use xlink:href='#gpPt6' transform='translate(1.26,3.00) scale(4.50)' color='rgb(1,2,3)'/>")
        self.assertIn('<use color="#010203" xlink:href="#gpPt6" transform="translate(1.3,3)scale(4.5)"/>', text)
        self.assertIn('id="gpPt5"', text)
        self.assertNotIn("gpPt0", text)

    def test_a_wrong_call_is_refused(self):
        with mock.patch("sys.stderr", io.StringIO()) as said:
            self.assertEqual(terse.main(["picture.svg"]), 2)
        self.assertIn("found 'picture.svg'", said.getvalue())


if __name__ == "__main__":
    unittest.main()
