/* Columns of a terminal: characters whose width is known, and every character against the C
 * library, whose table was made by others from the same Unicode data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <locale.h>
#include <wchar.h>

#include "tests/unit/skip.h"
#include "trace/base/str.h"

static void test_known_texts(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } rows[] = {
        {"", 0},
        {"abc ~", 5},
        {"µs → …", 6},
        {"漢字", 4},
        {"かな", 4},
        {"한글", 4},
        {"ｆｕ", 4},                                 /* fullwidth letters */
        {"ｱ", 1},                                    /* halfwidth katakana */
        {"🚀", 2},                                    /* U+1F680 */
        {"e\xcc\x81", 1},                            /* U+0301, an acute accent over the e */
        {"\xe0\xb8\x81\xe0\xb8\xb4\xe0\xb9\x88", 1}, /* Thai: a vowel and a tone over the letter */
        {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2}, /* Hangul in parts */
        {"\xe2\x9d\xa4\xef\xb8\x8f", 1},             /* U+FE0F asks for another picture */
        {"👩\xe2\x80\x8d🚀", 4},                       /* two that U+200D joins count as two */
        {"🇩🇪", 2},                                   /* the two letters of a flag */
        {"\xf0\xa0\x80\x80", 2},                     /* U+20000 */
        {"\xf4\x8f\xbf\xbf", 1},                     /* U+10FFFF */
        {"\xff\xc3\xe4\xb8", 4},                     /* no UTF-8: a column a byte */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (vp_display_width(vp_str_of(rows[i].text)) != rows[i].width)
            fail_msg("%s: %zu columns", rows[i].text, vp_display_width(vp_str_of(rows[i].text)));
        for (int before = 0; before < 18; before++) /* ASCII around it is a column a byte */
            for (int after = 0; after < 18; after++) {
                char text[96];
                int n = snprintf(text, sizeof text, "%.*s%s%.*s", before, "abcdefgh ijklmnop~",
                                 rows[i].text, after, "abcdefgh\tijklmnop~");
                size_t w = vp_display_width((vp_str){text, (size_t)n});
                assert_int_equal(w, rows[i].width + (size_t)before + (size_t)after);
            }
    }
}

/* What this C library has otherwise than East Asian Width: ambiguous and neutral there. */
static bool is_known_to_differ(uint32_t c)
{
    return (c >= 0x3248 && c <= 0x324f) || /* numbers in circles on black squares */
           (c >= 0x4dc0 && c <= 0x4dff);   /* hexagrams, wide from Unicode 16 on */
}

static size_t width_of(uint32_t c)
{
    char text[MB_LEN_MAX];
    mbstate_t from_start = {0};
    size_t n = wcrtomb(text, (wchar_t)c, &from_start);
    assert_true(n != (size_t)-1);
    return vp_display_width((vp_str){text, n});
}

static void test_every_character(void **state)
{
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip_because("this C library has no locale C.UTF-8");
    size_t known = 0, different = 0;
    for (uint32_t c = 0x20; c <= 0x10ffff; c++) {
        int theirs = wcwidth((wchar_t)c); /* negative: a control, or nothing is assigned */
        if (theirs < 0 || is_known_to_differ(c))
            continue;
        known++;
        if (width_of(c) == (size_t)theirs)
            continue;
        different++;
        if (strverscmp(gnu_get_libc_version(), "2.36") <= 0)
            fail_msg("U+%04X: %zu columns, not %d", c, width_of(c), theirs);
    }
    assert_true(known > 200000);
    assert_true(different < 2000); /* what later versions of Unicode added */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_texts),
                                       cmocka_unit_test(test_every_character)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
