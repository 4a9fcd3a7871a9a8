/* Idle time by the scope of the op that ends it. */
#include <string.h>

#include "trace/analyze/idle/gap_list.h"
#include "trace/base/err.h"

static int idle_scope_item(scope_item **out, host_result *h, const vp_map *by_path, vp_str path)
{
    const char *text = NULL;
    *out = NULL;
    if (!path.n)
        path = VP_STR("(no scope)");
    /* the item's path has U+2400 in place of a NUL byte (host_text) */
    if (memchr(path.p, 0, path.n)) {
        VP_TRY(host_text(&text, h, path));
        path = vp_str_of(text);
    }
    uint32_t i = vp_map_get(by_path, vp_hash(path.p, path.n, 0));
    if (i != VP_MAP_NONE && vp_str_eq(vp_str_of(h->scopes[i].path), path))
        *out = &h->scopes[i];
    return 0;
}

static int index_paths(vp_map *by_path, const host_result *h)
{
    for (size_t i = 0; i < h->scope_count; i++) {
        vp_str path = vp_str_of(h->scopes[i].path);
        VP_TRY(vp_map_set(by_path, vp_hash(path.p, path.n, 0), (uint32_t)i));
    }
    return 0;
}

int scopes_idle(host_result *h, const trace *t, const int64_t *idle_ps)
{
    vp_map by_path;
    vp_map_init(&by_path);
    int rc = index_paths(&by_path, h);
    for (uint32_t k = 0; h->scope_count && rc >= 0 && k < t->kind_count; k++) {
        scope_item *item = NULL;
        if (!idle_ps[k])
            continue;
        rc = idle_scope_item(&item, h, &by_path, trace_str(t, t->kinds[k].scope));
        if (item)
            item->idle_before_ps += idle_ps[k];
    }
    vp_map_free(&by_path);
    return rc;
}
