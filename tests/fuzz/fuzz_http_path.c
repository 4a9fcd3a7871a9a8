/* Any bytes as what a client says: the target, and the values of the headers that we interpret.
 * The decoded pieces can never name anything but themselves, and a range lies in the file. Input:
 * "TARGET NUL header value". */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/net/guard.h"
#include "server/net/negotiate.h"
#include "server/net/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static void check_text(const http_target *t, const char *s)
{
    size_t n = strlen(s);
    need(s >= t->text && s + n < t->text + sizeof t->text);
    for (size_t i = 0, len; i < n; i += len) {
        const unsigned char *p = (const unsigned char *)s + i;
        len = vp_utf8_len(p, n - i);
        need(len > 0 && *p >= 0x20 && *p != 0x7f);
    }
}

static void check_target(vp_str raw)
{
    http_target *t = malloc(sizeof *t);
    const char *why = NULL;
    if (!t)
        abort();
    int rc = http_target_parse(t, raw, &why);
    need(rc == 0 || rc == 400 || rc == 404 || rc == 414);
    need((rc == 0) == (why == NULL));
    for (size_t i = 0; rc == 0 && i < t->segment_count; i++) {
        const char *s = t->segments[i];
        check_text(t, s);
        need(*s && strcmp(s, ".") && strcmp(s, "..") && !strpbrk(s, "/\\"));
    }
    for (size_t i = 0; rc == 0 && i < t->query_count; i++) {
        check_text(t, t->query[i].key);
        check_text(t, t->query[i].value);
        need(http_target_query(t, t->query[i].key) != NULL);
    }
    free(t);
}

static void check_range(vp_str value, int64_t size)
{
    int64_t first = -1, last = -1;
    int rc = http_range(value, size, &first, &last);
    need(rc == 200 || rc == 206 || rc == 416);
    if (rc == 206)
        need(first >= 0 && first <= last && last < size);
}

static void check_negotiation(vp_str value)
{
    vp_str tag = VP_STR("\"a-1-2\"");
    (void)http_accepts_gzip(value);
    bool strong = http_etag_listed_strong(value, tag);
    need(!strong || http_etag_listed(value, tag));
    need(!http_if_range(value, tag) || http_etag_listed_strong(value, tag));
    check_range(value, 0);
    check_range(value, 1);
    check_range(value, 1000);
    check_range(value, INT64_MAX);
}

/* A GET with this target and this text as Host, Origin, Cookie and length. */
static void check_guard(vp_str target, vp_str value)
{
    guard_policy policy = {.port = 9001, .token = "0123456789abcdef"};
    http_head h = {.method = VP_STR("GET"), .target = target, .version = VP_STR("HTTP/1.1")};
    static const char *const names[] = {"Host", "Origin", "Cookie", "Authorization",
                                        "Sec-Fetch-Site"};
    guard_verdict v = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        h.field_count = 0;
        if (i)
            h.fields[h.field_count++] = (http_field){VP_STR("Host"), VP_STR("127.0.0.1:9001")};
        h.fields[h.field_count++] = (http_field){vp_str_of(names[i]), value};
        guard_check(&v, &policy, &h);
        need(v.status == 0 || (v.status >= 400 && v.status < 600 && v.message));
        need(v.status || v.target.n || !target.n);
        (void)guard_authenticate(&policy, &h, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vp_str all = {(const char *)data, n};
    size_t cut = vp_str_find(all, (vp_str){"\0", 1});
    vp_str target = vp_str_head(all, cut), value = vp_str_skip(all, cut + 1);
    check_target(target);
    check_negotiation(value);
    check_guard(target, value);
    return 0;
}
