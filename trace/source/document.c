#include "trace/source/document.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"

#define HEAD_BYTES 256u

static bool may_be_document(const char *url, vp_str sign)
{
    vp_str name = {url, strcspn(url, "?")};
    return mirror_is_url(url) &&
           (!sign.n || vp_str_ends(name, VP_STR(".json")) || vp_str_ends(name, VP_STR(".jsonl")));
}

static int copy_document(document *d, const char *typed, vp_str sign)
{
    const mirror_renewal how = {.progress = NULL};
    char head[HEAD_BYTES];
    const char *root;
    vp_file_id id;
    size_t n = 0;
    VP_TRY(mirror_renew(d->m, &how, &root));
    bool is_file = mirror_find(d->m, "", &id);
    if (!is_file && !sign.n)
        return vp_fail_at(vp_fail(VP_EUNSUPPORTED, "a directory, not a report"), typed, -1, -1);
    if (is_file && sign.n)
        VP_TRY(mirror_head(d->m, &id, head,
                           id.size < (int64_t)sizeof head ? (size_t)id.size : sizeof head, &n));
    vp_str start = {head, n};
    if (!is_file || (sign.n && vp_str_find(start, sign) == n))
        return 0;
    VP_TRY(mirror_whole(d->m, &id, &d->fd));
    snprintf(d->own, sizeof d->own, "/proc/self/fd/%d", d->fd);
    d->path = d->own;
    return 0;
}

int document_open(document *d, const char *typed, bool is_unsigned, vp_str sign)
{
    *d = (document){.path = typed, .fd = -1};
    if (!may_be_document(typed, sign))
        return 0;
    VP_TRY(mirror_open_url(&d->m, typed, is_unsigned));
    int rc = copy_document(d, typed, sign);
    if (rc < 0)
        document_close(d);
    return rc;
}

void document_close(document *d)
{
    vp_fs_close(&d->fd);
    mirror_free(d->m);
    d->m = NULL;
}

int document_fail(const document *d, int rc)
{
    if (rc >= 0 || d->fd < 0)
        return rc;
    vp_error e = *vp_error_last();
    snprintf(e.path, sizeof e.path, "%s", mirror_url(d->m));
    return vp_fail_copy(&e);
}
