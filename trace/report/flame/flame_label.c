#include "trace/report/flame/flame_label.h"

/* Minimum number of columns before an ellipsis. */
#define LEAST_COLUMNS 3

/* Characters of our labels that all monospace fonts have: General Punctuation to Mathematical
 * Operators. Beyond European alphabets a glyph may come from any font, and is wider. */
static bool is_of_the_font(uint32_t c)
{
    return c < 0x530 || (c >= 0x2010 && c < 0x2300);
}

static size_t columns_of_character(vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t w = *p == '&' ? 1 : vp_display_width(s);
    return w == 1 && !is_of_the_font(vp_utf8_at(p, vp_utf8_len(p, s.n))) ? 2 : w;
}

/* The bytes of the character or the entity at the start of s, which is not empty. */
static size_t html_char_length(vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t end = 1;
    if (*p != '&') {
        unsigned len = vp_utf8_len(p, s.n);
        return len ? len : 1;
    }
    while (end < s.n && p[end - 1] != ';')
        end++;
    return end;
}

static size_t columns_of(vp_str s)
{
    size_t w = 0, n;
    for (; s.n; s = vp_str_skip(s, n)) {
        n = html_char_length(s);
        w += columns_of_character(vp_str_head(s, n));
    }
    return w;
}

static bool starts_with_digit(vp_str s)
{
    return s.n && s.p[0] >= '0' && s.p[0] <= '9';
}

static vp_str skip_sign(vp_str s)
{
    static const char *const signs[] = {"+", "−", "±"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (vp_str_starts(s, vp_str_of(signs[i])))
            return vp_str_skip(s, vp_str_of(signs[i]).n);
    return s;
}

static vp_str skip_word(vp_str s)
{
    while (s.n && s.p[0] != ' ')
        s = vp_str_skip(s, 1);
    return s;
}

static vp_str skip_digits(vp_str s)
{
    while (starts_with_digit(s) || vp_str_starts(s, VP_STR(".")) || vp_str_starts(s, VP_STR(",")))
        s = vp_str_skip(s, 1);
    return s;
}

/* The bytes of a number at the start of s, with its unit and the spaces after each; 0: not a
 * number. */
static size_t number_word_length(vp_str s)
{
    vp_str rest = skip_sign(s);
    if (!starts_with_digit(rest))
        return 0;
    rest = skip_digits(rest);
    if (rest.n && rest.p[0] != ' ')
        return 0;
    rest = skip_word(vp_str_skip(rest, 1));
    return s.n - vp_str_skip(rest, 1).n;
}

/* The bytes at the start of s that must not be separated. */
static size_t label_piece_length(vp_str s, bool begins_word)
{
    size_t n = begins_word ? number_word_length(s) : 0;
    if (!n && starts_with_digit(s))
        n = s.n - skip_digits(s).n;
    return n ? n : html_char_length(s);
}

size_t flame_label_fit(vp_str html, size_t columns)
{
    size_t kept = 0, kept_columns = 0, w = 0;
    for (size_t i = 0; i < html.n;) {
        vp_str rest = vp_str_skip(html, i);
        size_t n = label_piece_length(rest, !i || html.p[i - 1] == ' ');
        w += columns_of(vp_str_head(rest, n));
        if (w > columns)
            return kept_columns < LEAST_COLUMNS ? 0 : kept;
        i += n;
        if (w < columns && !starts_with_digit(vp_str_skip(html, i - 1))) { /* "12…" may be 123 */
            kept = i;
            kept_columns = w;
        }
    }
    return html.n;
}
