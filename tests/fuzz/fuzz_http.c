/* Everything that reads what a client sends: the target, the head, ranges, tags, encodings. The
 * input is a request; what comes out must keep the promises that the routes rely on. */
#include <stdint.h>
#include <stdlib.h>

#include "server/net/request/date.h"
#include "server/net/request/guard.h"
#include "server/net/request/negotiate.h"
#include "server/net/request/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void check_target(vp_str raw)
{
    static http_target t;
    const char *why;
    int status = http_target_parse(&t, raw, &why);
    check(status == 0 || status == 400 || status == 404 || status == 414);
    check((status == 0) == (why == NULL));
    if (status)
        return;
    check(t.segment_count <= HTTP_SEGMENTS_MAX && t.query_count <= HTTP_QUERY_MAX);
    for (size_t i = 0; i < t.segment_count; i++) {
        const char *s = t.segments[i];
        check(*s && !strchr(s, '/') && !strchr(s, '\\') && strcmp(s, ".") && strcmp(s, ".."));
        for (; *s; s++)
            check((unsigned char)*s >= 0x20 && *s != 0x7f);
    }
}

static void check_value(vp_str value)
{
    int64_t first = -1, last = -1;
    int status = http_range(value, 1000, &first, &last);
    check(status == 200 || status == 206 || status == 416);
    check(status != 206 || (0 <= first && first <= last && last < 1000));
    check(http_choose_coding(value, false) != HTTP_GZIP);
    check(http_choose_coding(value, true) != HTTP_NO_CODING ||
          http_choose_coding(value, false) == HTTP_NO_CODING);
    int64_t when;
    if (http_date_parse(value, 1800000000, &when) && when >= 0 && when < HTTP_DATE_END) {
        char text[HTTP_DATE_SIZE];
        int64_t again;
        check(http_date_put(text, when));
        check(http_date_parse(vp_str_of(text), 0, &again) && again == when);
    }
    check(!http_etag_listed_strong(value, VP_STR("\"a\"")) ||
          http_etag_listed(value, VP_STR("\"a\"")));
    check(!http_etag_listed(value, VP_STR("")));
}

static void check_head(http_head *h)
{
    static const char *const hosts[] = {"gpu17", NULL}, *const origins[] = {"https://o", NULL};
    guard_policy p = {
        .port = 9001, .hosts = hosts, .origins = origins, .token = "0123456789abcdef"};
    guard_verdict v;
    const char *why;
    guard_check(&v, &p, h);
    check((v.status == 0) == (v.message == NULL));
    if (v.status)
        return;
    check(v.host.n && v.target.p);
    guard_may_change(&v, h, &why);
    guard_authenticate(&p, h, NULL);
    check_target(v.target);
}

/* "METHOD TARGET VERSION", then "name:value" lines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static http_head h;
    vp_str rest = {(const char *)data, size}, line;
    if (!size)
        return 0;
    h = (http_head){.target = VP_STR("")};
    vp_take_until(&rest, '\n', SIZE_MAX, &line);
    vp_take_until(&line, ' ', SIZE_MAX, &h.method);
    vp_take_until(&line, ' ', SIZE_MAX, &h.target);
    h.version = line;
    check_target(h.target);
    while (rest.n && h.field_count < HTTP_HEADERS_MAX) {
        vp_str name;
        vp_take_until(&rest, '\n', SIZE_MAX, &line);
        vp_take_until(&line, ':', SIZE_MAX, &name);
        line = vp_str_trim(line);
        h.fields[h.field_count++] = (http_field){name, line};
        check_value(line);
    }
    check_head(&h);
    return 0;
}
