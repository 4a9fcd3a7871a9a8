/* Helpers for tests of pages: a page as text, and a strict parser of the markup subset that we
 * write. For cmocka tests. */
#ifndef VP_TESTS_HTML_CHECK_H
#define VP_TESTS_HTML_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/report/report.h"

static const rep_links served = {.base = "/prefix",
                                 .perfetto = "/perfetto/x",
                                 .tensorboard = "/tensorboard/x",
                                 .index = "/",
                                 .controls = true};

static inline char *page_of(const vp_report *r, vp_view v, const rep_links *links)
{
    vp_buf b;
    vp_buf_init(&b, 256u << 20);
    assert_int_equal(rep_html(&b, r, &v, links), 0);
    char *html = vp_buf_take(&b, NULL);
    assert_non_null(html);
    return html;
}

/* Instead of strstr(), which under AddressSanitizer measures the rest of the page first, byte by
 * byte. */
static inline size_t occurrences(const char *html, const char *what)
{
    size_t n = 0, length = strlen(what);
    const char *end = html + strlen(html);
    for (const char *p = html; (p = memmem(p, (size_t)(end - p), what, length)) != NULL;
         p += length)
        n++;
    return n;
}

/* ---- A strict reader of the subset that we write ---- */

static inline bool is_void(vp_str name)
{
    return vp_str_eq(name, VP_STR("meta")) || vp_str_eq(name, VP_STR("link")) ||
           vp_str_eq(name, VP_STR("input")) || vp_str_eq(name, VP_STR("img"));
}

static inline bool is_known(vp_str name)
{
    static const char *const known[] = {
        "html",    "head",    "meta",    "title", "link",  "style",  "body",     "a",      "header",
        "nav",     "div",     "span",    "h1",    "h2",    "h3",     "dl",       "dt",     "dd",
        "main",    "section", "p",       "ul",    "li",    "strong", "b",        "i",      "svg",
        "rect",    "table",   "caption", "thead", "tbody", "tfoot",  "tr",       "th",     "td",
        "details", "summary", "code",    "form",  "label", "select", "input",    "option", "button",
        "footer",  "bdi",     "ol",      "g",     "desc",  "line",   "polyline", "circle", "path",
        "img",     "script",  "text"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (vp_str_eq(name, vp_str_of(known[i])))
            return true;
    return false;
}

/* Attributes only as name="value"; none is a script or a style. Returns the position after '>'. */
static inline const char *read_attributes(const char *p, bool *self_closed)
{
    static const char *const flags[] = {"open", "selected", "download"};
    *self_closed = false;
    for (;;) {
        while (*p == ' ' || *p == '\n')
            p++;
        if (*p == '>')
            return p + 1;
        if (p[0] == '/' && p[1] == '>') {
            *self_closed = true;
            return p + 2;
        }
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
        vp_str name = {p, n};
        assert_true(n > 0);
        assert_false(vp_str_starts(name, VP_STR("on")));
        assert_false(vp_str_eq(name, VP_STR("style")));
        if (vp_str_eq(name, VP_STR("src"))) /* only our own scripts, and only on a server */
            assert_int_equal(strncmp(p + n, "=\"/prefix/static/", 17), 0);
        p += n;
        if (*p != '=') {
            assert_true(vp_str_eq(name, vp_str_of(flags[0])) ||
                        vp_str_eq(name, vp_str_of(flags[1])) ||
                        vp_str_eq(name, vp_str_of(flags[2])));
            continue;
        }
        assert_int_equal(p[1], '"');
        p = strchr(p + 2, '"');
        assert_non_null(p);
        p++;
    }
}

/* Every tag is known, opened and closed in order. Returns the number of elements. */
static inline size_t assert_well_formed(const char *html)
{
    static vp_str stack[1024];
    size_t depth = 0, elements = 0;
    assert_int_equal(strncmp(html, "<!doctype html>\n", 16), 0);
    for (const char *p = html + 16; (p = strchr(p, '<')) != NULL;) {
        bool closing = p[1] == '/', self_closed;
        p += closing ? 2 : 1;
        vp_str name = {p, strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789")};
        if (!is_known(name))
            fail_msg("unknown element at: %.60s", p);
        p += name.n;
        if (closing) {
            assert_int_equal(*p, '>');
            assert_true(depth > 0);
            if (!vp_str_eq(stack[--depth], name))
                fail_msg("%.*s closed by %.60s", (int)stack[depth].n, stack[depth].p, name.p);
            continue;
        }
        p = read_attributes(p, &self_closed);
        elements++;
        if (self_closed || is_void(name))
            continue;
        assert_true(depth < 1024);
        stack[depth++] = name;
        if (vp_str_eq(name, VP_STR("style"))) /* its content is no markup */
            p = strstr(p, "</style>");
    }
    assert_int_equal(depth, 0);
    return elements;
}

#endif
