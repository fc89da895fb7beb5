/*
 * The header of a .npy file: what Python may write there, and what it is told where it may not. Each
 * refusal is held against its whole message.
 */
#include "common/files/npy_header.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define HEADER(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
#define F4(shape) HEADER("'<f4'", "False", shape)

static void refuses(const char *header, const char *message)
{
    struct npy array;
    struct file_error error = { "" };
    cr_assert(!npy_header_parse(header, &array, &error), "accepted %s", header);
    cr_assert(strcmp(error.text, message) == 0, "%s: said \"%s\" instead of \"%s\"", header,
              error.text, message);
}

TEST(npy_header, takes_keys_in_any_order_and_any_blanks)
{
    static const char *const headers[] = {
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}",
        " \t{ 'fortran_order'\n:\tFalse ,\r\n'descr' : '<f4'\f,'shape' :( 2 , 3 , ) , } \n\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }          \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1, 3, 1, 1, 1, 1), }",
    };
    static const struct npy right[] = {
        { NPY_F4, 2, { 2, 3 }, 6, NULL },
        { NPY_F4, 2, { 2, 3 }, 6, NULL },
        { NPY_F4, 2, { 2, 3 }, 6, NULL },
        { NPY_F4, 1, { 6 }, 6, NULL },
        { NPY_F4, 8, { 1, 2, 1, 3, 1, 1, 1, 1 }, 6, NULL },
    };
    for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++) {
        struct npy array;
        struct file_error error;
        cr_assert(npy_header_parse(headers[k], &array, &error), "%s: %s", headers[k], error.text);
        cr_assert(array.type == right[k].type && array.dims == right[k].dims &&
                      array.count == right[k].count &&
                      memcmp(array.shape, right[k].shape, sizeof array.shape) == 0,
                  "%s: found type %d, %d dimensions, %zu elements", headers[k], (int)array.type,
                  array.dims, array.count);
    }
}

TEST(npy_header, refuses_each_other_type_by_name)
{
    static const struct {
        const char *descr, *found;
    } types[] = {
        { "'>f4'", "big-endian float32 ('>f4')" },
        { "'>f8'", "big-endian float64 ('>f8')" },
        { "'<i8'", "int64 ('<i8')" },
        { "'|i1'", "int8 ('|i1')" },
        { "'<u2'", "uint16 ('<u2')" },
        { "'<f16'", "float128 ('<f16')" },
        { "'<c8'", "complex64 ('<c8')" },
        { "'|S5'", "byte strings ('|S5')" },
        { "'<U7'", "strings ('<U7')" },
        { "'|O'", "Python objects ('|O')" },
        { "'<M8[ns]'", "dates ('<M8[ns]')" },
        { "'<V2'", "bytes ('<V2')" },
        { "'=f4'", "float32 ('=f4')" },
        { "'|f4'", "float32 ('|f4')" },
        { "'f4'", "float32 ('f4')" },
        { "'<b1'", "bool ('<b1')" },
        { "'<f'", "the type ('<f')" },
        { "'<f123456'", "the type ('<f123456')" },
        { "'<f44'", "float352 ('<f44')" },
        { "'<f0'", "the type ('<f0')" },
        { "'<f4x'", "the type ('<f4x')" },
        { "'<f    4'", "the type ('<f    4')" },
        { "'|b    99999999999'", "bool ('|b    99999999999')" },
        { "''", "the type ('')" },
        { "'<'", "the type ('<')" },
        { "'a name that is far too long for a type'", "the type ('a name that is far ')" },
    };
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        char header[200], message[240];
        snprintf(header, sizeof header, HEADER("%s", "False", "(6,)"), types[k].descr);
        snprintf(message, sizeof message,
                 "expected little-endian float16, float32, float64 ('<f2', '<f4', '<f8'), bool "
                 "('|b1') or uint8 ('|u1'), found %s",
                 types[k].found);
        refuses(header, message);
    }
    const char *structured = "expected elements that are plain numbers, found a structured type";
    refuses(HEADER("[('a', '<f4')]", "False", "(6,)"), structured);
    refuses(HEADER("('<f4', (2,))", "False", "(6,)"), structured);
    refuses(HEADER("4", "False", "(6,)"),
            "expected a type like '<f4', found 4, 'fortran_order': False, 'shape': (6,), }");
}

TEST(npy_header, refuses_fortran_order_and_what_is_no_order)
{
    refuses(HEADER("'<f4'", "True", "(6,)"),
            "expected C order (row after row), found Fortran order");
    refuses(HEADER("'<f4'", "0", "(6,)"),
            "expected True or False for fortran_order, found 0, 'shape': (6,), }");
    refuses(HEADER("'<f4'", "Falsehood", "(6,)"),
            "expected a comma or a closing brace in the header, found hood, 'shape': (6,), }");
}

TEST(npy_header, refuses_shapes_that_are_none)
{
    refuses(F4("()"), "expected 1 to 8 dimensions, found shape (), a single number");
    refuses(F4("(1, 1, 1, 1, 1, 1, 1, 1, 6)"), "expected 1 to 8 dimensions, found 9");
    refuses(F4("(6)"), "expected a shape like (3,), found (6)");
    refuses(F4("6"), "expected a shape like (2, 3), found 6, }");
    refuses(F4("[6]"), "expected a shape like (2, 3), found [6], }");
    refuses(F4("(0,)"), "expected at least one element, found the shape (0,)");
    refuses(F4("(99999999999, 99999999999, 0)"),
            "expected at least one element, found the shape (99999999999, 99999999999, 0)");
    refuses(F4("(-6,)"), "expected a whole number in the shape, found -6,), }");
    refuses(F4("(+6,)"), "expected a whole number in the shape, found +6,), }");
    refuses(F4("(06,)"), "expected a whole number in the shape, found 06,), }");
    refuses(F4("(,)"), "expected a whole number in the shape, found ,), }");
    refuses(F4("(2,,3)"), "expected a whole number in the shape, found ,3), }");
    refuses(F4("(True, 6)"), "expected a whole number in the shape, found True, 6), }");
    refuses(F4("(2 3)"), "expected a comma in the shape, found 3), }");
    refuses(F4("(6L,)"), "expected a comma in the shape, found L,), }");
    refuses(F4("(6.0,)"), "expected a comma in the shape, found .0,), }");
    refuses("{'shape': (6,", "expected a whole number in the shape, found the end of the header");
}

TEST(npy_header, refuses_shapes_whose_product_overflows)
{
    refuses(F4("(4611686018427387904, 4)"), "expected an array that fits in memory, found "
                                            "the shape (4611686018427387904, 4)");
    refuses(F4("(4294967296, 4294967296)"), "expected an array that fits in memory, found "
                                            "the shape (4294967296, 4294967296)");
    refuses(F4("(2305843009213693952,)"),
            "expected an array that fits in memory, found the shape (2305843009213693952,)");
    refuses(F4("(9223372036854775808,)"),
            "expected an array that fits in memory, found 9223372036854775808,), }");
    refuses(F4("(18446744073709551617, 6)"),
            "expected an array that fits in memory, found 18446744073709551617, 6), }");

    struct npy array;
    struct file_error error;
    cr_assert(npy_header_parse(F4("(2305843009213693951,)"), &array, &error), "%s", error.text);
    cr_assert(array.count == 2305843009213693951, "%zu elements", array.count);
}

TEST(npy_header, refuses_missing_double_and_unknown_keys)
{
    refuses("{'fortran_order': False, 'shape': (6,)}",
            "expected a header with the key 'descr', found none");
    refuses("{'descr': '<f4', 'shape': (6,)}",
            "expected a header with the key 'fortran_order', found none");
    refuses("{'descr': '<f4', 'fortran_order': False}",
            "expected a header with the key 'shape', found none");
    refuses("{}", "expected a header with the key 'descr', found none");
    refuses("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
            "expected each key once, found 'descr' twice");
    refuses("{'shape': (6,), 'fortran_order': False, 'shape': (6,), 'descr': '<f4'}",
            "expected each key once, found 'shape' twice");
    const char *const unknown[] = { "'x': 1}", "'shap': (6,)}",   "'shapes': (6,)}",    "'': 1}",
                                    "x: 1}",   "u'shape': (6,)}", "'sh\\x61pe': (6,)}", "'shape",
                                    ", }" };
    for (size_t k = 0; k < sizeof unknown / sizeof unknown[0]; k++) {
        char header[100], message[200];
        snprintf(header, sizeof header, "{%s", unknown[k]);
        snprintf(message, sizeof message,
                 "expected the keys 'descr', 'fortran_order' and 'shape', found %s", unknown[k]);
        refuses(header, message);
    }
}

TEST(npy_header, refuses_what_is_no_dictionary)
{
    refuses("", "expected a header in braces, found the end of the header");
    refuses(" \n", "expected a header in braces, found the end of the header");
    refuses("('descr', '<f4')", "expected a header in braces, found ('descr', '<f4')");
    refuses("{", "expected the keys 'descr', 'fortran_order' and 'shape', found the end of "
                 "the header");
    refuses("{'shape' (6,)}", "expected a colon after a key, found (6,)");
    refuses("{'shape': (6,); }", "expected a comma or a closing brace in the header, found ; }");
    refuses("{'shape': (6,) 'descr': '<f4'}",
            "expected a comma or a closing brace in the header, found 'descr': '<f4'}");
    refuses("{'shape': (6,)", "expected a comma or a closing brace in the header, found the "
                              "end of the header");
    refuses("{'descr': '<f4\"}", "expected a type like '<f4', found '<f4\"}");
    refuses("{'descr': '<f\t4'}", "expected a type like '<f4', found '<f 4'}");
    refuses("{'descr': '\\x3cf4'}", "expected a type like '<f4', found '\\x3cf4'}");
    refuses(F4("(6,)") "x", "expected the end of the header, found x");
    refuses(F4("(6,)") "and so on, for more bytes than a line should have",
            "expected the end of the header, found "
            "and so on, for more bytes than a line shoul...");
}

TEST(npy_header, is_written_as_np_save_writes_it)
{
    // As NumPy 2 has it: the first dimension can grow to 21 digits, and the data is aligned to 64.
    static const struct {
        enum npy_type type;
        int dims;
        size_t shape[8], padded;
        const char *text;
    } cases[] = {
        { NPY_F2, 1, { 3 }, 118, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }" },
        { NPY_B1,
          2,
          { 2, 164 },
          118,
          "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 164), }" },
        { NPY_F8,
          5,
          { 7, 1000000000, 1000000000, 1000000000, 10 },
          118,
          "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 1000000000, 1000000000, "
          "1000000000, 10), }" },
        { NPY_U1,
          5,
          { 7, 1000000000, 1000000000, 1000000000, 100 },
          182,
          "{'descr': '|u1', 'fortran_order': False, 'shape': (7, 1000000000, 1000000000, "
          "1000000000, 100), }" },
        { NPY_F4,
          5,
          { 12345678, 1000000000, 1000000000, 1000000000, 10 },
          118,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (12345678, 1000000000, 1000000000, "
          "1000000000, 10), }" },
        { NPY_F4,
          8,
          { 1111111111111111111, 1111111111111111111, 1111111111111111111, 1111111111111111111,
            1111111111111111111, 1111111111111111111, 1111111111111111111, 1111111111111111111 },
          246,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1111111111111111111, "
          "1111111111111111111, 1111111111111111111, 1111111111111111111, 1111111111111111111, "
          "1111111111111111111, 1111111111111111111, 1111111111111111111), }" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[NPY_HEADER_ROOM], right[NPY_HEADER_ROOM];
        const size_t length = npy_header_format(cases[k].type, cases[k].dims, cases[k].shape, text);
        snprintf(right, sizeof right, "%-*s\n", (int)cases[k].padded - 1, cases[k].text);
        cr_assert(length == cases[k].padded && memcmp(text, right, length) == 0,
                  "found %zu bytes: %.*s", length, (int)length, text);
    }
}

TEST(npy_header, shows_shapes_as_python_does)
{
    static const struct {
        int dims;
        size_t shape[4], size;
        const char *text;
    } cases[] = {
        { 1, { 164 }, 50, "(164,)" },
        { 2, { 0, 7 }, 50, "(0, 7)" },
        { 4, { 2, 4, 164, 32 }, 50, "(2, 4, 164, 32)" },
        { 4, { 2, 4, 164, 32 }, 16, "(2, 4, 164, 32)" },
        { 4, { 2, 4, 164, 32 }, 15, "(2, 4, 164, 32" },
        { 4, { 2, 4, 164, 32 }, 9, "(2, 4, 1" },
        { 4, { 2, 4, 164, 32 }, 2, "(" },
        { 4, { 2, 4, 164, 32 }, 1, "" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[100];
        memset(text, '#', sizeof text - 1);
        text[sizeof text - 1] = '\0';
        cr_assert(npy_shape_text(cases[k].dims, cases[k].shape, text, cases[k].size) == text,
                  "returned something else");
        cr_assert(strcmp(text, cases[k].text) == 0, "found %s, expected %s", text, cases[k].text);
        cr_assert(strspn(text + cases[k].size, "#") == sizeof text - cases[k].size - 1,
                  "%s: wrote past the %zu bytes it was given", cases[k].text, cases[k].size);
    }
}
