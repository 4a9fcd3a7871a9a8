/* Any name and head: "NAME NUL HEAD [NUL NUL INNER]". Detection answers for all of them, says why
 * where it refuses, and reads nothing outside of what it was given (each part is a block of its
 * own, so that ASan sees its ends). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/detect/detect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

/* A copy that ends where its memory ends. */
static vp_str own(vp_str s)
{
    char *p = malloc(s.n ? s.n : 1);
    if (!p)
        abort();
    if (s.n)
        memcpy(p, s.p, s.n);
    return (vp_str){p, s.n};
}

static void drop(vp_str s)
{
    free((char *)(uintptr_t)s.p);
}

static void check(rd_kind k)
{
    need(k.format <= RD_UNREADABLE && rd_format_name(k.format));
    if (k.format == RD_UNREADABLE || k.format == RD_CACHE)
        need(k.why && *k.why);
    if (rd_is_timeline(k.format))
        need(!k.why);
}

static void detect(vp_str name, vp_str head, vp_str inner)
{
    rd_kind k = rd_detect(name, head, inner);
    check(k);
    need(k.gzip <= (head.n > 1));
    check(rd_detect_name(name));
    if (rd_detect_name(name).format == RD_CACHE)
        need(k.format == RD_CACHE);
    vp_str host = rd_host_of(name);
    need(host.n <= name.n &&
         (host.n == 0 || (host.p >= name.p && host.p + host.n <= name.p + name.n)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vp_str all = {(const char *)data, n}, part, rest;
    size_t name_n = vp_str_find(all, (vp_str){"\0", 1});
    vp_str name = own(vp_str_head(all, name_n));
    rest = vp_str_skip(all, name_n + 1);
    size_t head_n = vp_str_find(rest, (vp_str){"\0\0", 2});
    part = vp_str_skip(rest, head_n + 2);
    vp_str inner = own(vp_str_head(part, 4096)),
           head = own(head_n < rest.n ? vp_str_head(rest, head_n) : rest);
    detect(name, head, inner);
    detect(name, head, VP_STR_NONE);
    detect(VP_STR_NONE, head, inner);
    drop(name);
    drop(head);
    drop(inner);
    return 0;
}
