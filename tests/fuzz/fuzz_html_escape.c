/* Any bytes, escaped for each surface: HTML, JSON and the terminal. What comes out is valid UTF-8
 * and holds nothing that the surface would act on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

/* Valid UTF-8 without controls. */
static void check_text(vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    for (size_t i = 0, len; i < s.n; i += len) {
        len = vp_utf8_len(p + i, s.n - i);
        need(len > 0 && p[i] >= 0x20 && p[i] != 0x7f);
    }
}

/* Nothing invisible or reordering either: U+0080..9F, 061C, 200B..F, 2028..E, 2060..F, FEFF. */
static void check_visible(vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    check_text(s);
    for (size_t i = 0; i + 1 < s.n; i++) {
        need(!(p[i] == 0xc2 && p[i + 1] < 0xa0));
        need(!(p[i] == 0xd8 && p[i + 1] == 0x9c));
        if (i + 2 >= s.n)
            continue;
        need(!(p[i] == 0xe2 && p[i + 1] == 0x80 && p[i + 2] >= 0x8b && p[i + 2] <= 0x8f));
        need(!(p[i] == 0xe2 && p[i + 1] == 0x80 && p[i + 2] >= 0xa8 && p[i + 2] <= 0xae));
        need(!(p[i] == 0xe2 && p[i + 1] == 0x81 && p[i + 2] >= 0xa0 && p[i + 2] <= 0xaf));
        need(!(p[i] == 0xef && p[i + 1] == 0xbb && p[i + 2] == 0xbf));
    }
}

/* Every '&' begins one of the five entities; the other four characters do not occur. */
static void check_html(vp_str s)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    check_visible(s);
    for (size_t i = 0; i < s.n; i++) {
        bool known = s.p[i] != '&';
        for (size_t k = 0; !known && k < sizeof entities / sizeof *entities; k++)
            known = vp_str_starts(vp_str_skip(s, i), vp_str_of(entities[k]));
        need(known && s.p[i] != '<' && s.p[i] != '>' && s.p[i] != '"' && s.p[i] != '\'');
    }
}

/* One quoted string: no bare quote inside, backslashes in pairs with what they escape. */
static void check_json(vp_str s)
{
    need(s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"');
    check_text(s);
    for (size_t i = 1; i < s.n - 1; i++) {
        need(s.p[i] != '"');
        if (s.p[i] != '\\')
            continue;
        need(++i < s.n - 1 && strchr("\"\\/bfnrtu", s.p[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vp_str s = {(const char *)data, n};
    vp_buf b;
    vp_buf_init(&b, 64 * n + 64);
    need(rep_html_escape(&b, s) == 0);
    check_html(vp_buf_view(&b));
    vp_buf_free(&b);
    vp_buf_init(&b, 64 * n + 64);
    need(vp_put_escaped(&b, s) == 0);
    check_visible(vp_buf_view(&b));
    vp_buf_free(&b);
    vp_buf_init(&b, 64 * n + 64);
    need(vp_json_quote(&b, s) == 0);
    check_json(vp_buf_view(&b));
    vp_buf_free(&b);
    return 0;
}
