/* Any bytes as a store's listing, whole and in pieces: the same verdict and the same elements,
 * texts within their ceiling, and every begun element ended where the verdict is good. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

typedef struct got {
    size_t begun, ended;
    uint64_t sum;
} got;

static void need(bool ok)
{
    if (!ok)
        abort();
}

static void add(got *g, vp_str s)
{
    for (size_t i = 0; i < s.n; i++)
        g->sum = g->sum * 31 + (unsigned char)s.p[i];
}

static int note(void *ctx, bool is_end, vp_str name, vp_str text)
{
    got *g = ctx;
    need(name.n > 0 && name.n <= XML_NAME_MAX && text.n <= XML_TEXT_MAX);
    g->begun += !is_end;
    g->ended += is_end;
    need(g->ended <= g->begun);
    add(g, name);
    add(g, text);
    (void)url_name_fault(text);
    (void)xml_time(text);
    return 0;
}

static int feed(got *g, const uint8_t *data, size_t n, size_t piece)
{
    xml_walk x;
    vp_str s = {(const char *)data, n};
    int rc = 0;
    xml_begin(&x, note, g);
    for (; rc == 0 && s.n; s = vp_str_skip(s, piece))
        rc = xml_feed(&x, vp_str_head(s, piece));
    return rc ? rc : xml_end(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    got whole = {0}, bytes = {0}, pieces = {0};
    int rc = feed(&whole, data, n, n ? n : 1);
    need(feed(&bytes, data, n, 1) == rc && feed(&pieces, data, n, 7) == rc);
    need(whole.sum == bytes.sum && whole.sum == pieces.sum && whole.begun == bytes.begun);
    need(rc < 0 || (whole.begun && whole.begun == whole.ended));
    return 0;
}
