/* The tree of a mirror: the remote directories and files, in memory. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/source/mirror_impl.h"

/* ---- Adding ---- */

static int table_put_entry(mirror_table *t, vp_str path, mirror_entry x, vp_str etag)
{
    x.path = vp_arena_strndup(&t->arena, path.p, path.n);
    x.etag = etag.n ? vp_arena_strndup(&t->arena, etag.p, etag.n) : "";
    VP_NEED(x.path && x.etag);
    VP_TRY(vp_grow(&t->entries, &t->cap, t->n + 1, sizeof *t->entries, VP_WALK_ENTRIES_MAX));
    t->entries[t->n++] = x;
    return 0;
}

int mirror_put_dir(mirror_listing *l, vp_str path)
{
    return table_put_entry(l->table, path, (mirror_entry){.bytes = -1}, VP_STR_NONE);
}

/* The time assigned to the file: changed objects with equal size and time get different times. */
static int64_t mirror_file_time(const mirror_listing *l, vp_str path, const source_entry *e)
{
    const mirror_entry *was = l->old ? mirror_at(l->old, path) : NULL;
    int64_t at = e->mtime_ns > 0 ? e->mtime_ns : 0;
    if (!was || was->bytes != e->bytes || was->mtime_ns < at || was->mtime_ns - at > 1000000)
        return at;
    bool same = !e->etag.n || !was->etag[0] || vp_str_eq(e->etag, vp_str_of(was->etag));
    return was->mtime_ns + (same ? 0 : 1);
}

int mirror_put_file(mirror_listing *l, vp_str path, const source_entry *e)
{
    if (e->bytes > VP_REMOTE_OBJECT_MAX || e->etag.n >= MIRROR_ETAG) {
        mirror_leave_out(l->table, 1, VP_STR("larger than 1 TiB, or the version is too long"));
        return 0;
    }
    const mirror_entry x = {.bytes = e->bytes, .mtime_ns = mirror_file_time(l, path, e)};
    return table_put_entry(l->table, path, x, e->etag);
}

void mirror_leave_out(mirror_table *t, uint64_t n, vp_str why)
{
    if (!t->left_out)
        snprintf(t->why, sizeof t->why, "%.*s", VP_STR_CUT(why, sizeof t->why - 1));
    t->left_out += n;
}

/* ---- Sorting ---- */

/* '/' sorts as 1; no name contains smaller bytes, because names with control characters are
 * omitted. */
static int path_char_rank(char c)
{
    return c == '/' ? 1 : (unsigned char)c;
}

/* b may lack a NUL. */
static int compare_paths(const char *a, vp_str b)
{
    size_t i = 0;
    while (i < b.n && a[i] && a[i] == b.p[i])
        i++;
    return path_char_rank(a[i]) - (i < b.n ? path_char_rank(b.p[i]) : 0);
}

static int by_mirror_path(const void *pa, const void *pb)
{
    const mirror_entry *a = pa, *b = pb;
    int order = compare_paths(a->path, vp_str_of(b->path));
    return order ? order : (a->bytes < 0) - (b->bytes < 0); /* a file before a directory */
}

/* The first entry that is not before the path. */
static size_t table_place_of(const mirror_table *t, vp_str path)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_paths(t->entries[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* True for the same name, or a path beneath a file. */
static bool is_hidden_by(const mirror_entry *e, const mirror_entry *before)
{
    size_t n = strlen(before->path);
    bool beneath = strncmp(e->path, before->path, n) == 0;
    return beneath && (!e->path[n] || (before->bytes >= 0 && e->path[n] == '/'));
}

static uint64_t ino_of(const mirror_table *t, vp_str path)
{
    uint64_t ino = vp_fingerprint(path.p, path.n, 0);
    while (vp_map_get(&t->by_ino, ino) != VP_MAP_NONE)
        ino++;
    return ino;
}

int mirror_table_end(mirror_table *t)
{
    size_t n = 0;
    if (t->n)
        qsort(t->entries, t->n, sizeof *t->entries, by_mirror_path);
    for (size_t i = 0; i < t->n; i++) {
        mirror_entry e = t->entries[i];
        if (n && is_hidden_by(&e, &t->entries[n - 1]))
            continue;
        e.ino = ino_of(t, vp_str_of(e.path));
        if (e.bytes >= 0)
            VP_TRY(vp_map_set(&t->by_ino, e.ino, (uint32_t)n));
        t->entries[n++] = e;
    }
    t->n = n;
    return 0;
}

/* ---- Lookup ---- */

const mirror_entry *mirror_at(const mirror_table *t, vp_str path)
{
    size_t i = table_place_of(t, path);
    const mirror_entry *e = i < t->n ? &t->entries[i] : NULL;
    return e && e->bytes >= 0 && vp_str_eq(vp_str_of(e->path), path) ? e : NULL;
}

vp_file_id mirror_id_of(const mirror *m, const mirror_entry *e)
{
    return (vp_file_id){m->dev, e->ino, e->bytes, e->mtime_ns};
}

bool mirror_find(const mirror *m, const char *path, vp_file_id *id)
{
    const mirror_entry *e = mirror_at(m->table, vp_str_of(path));
    if (e)
        *id = mirror_id_of(m, e);
    return e != NULL;
}

int mirror_each(const mirror *m, const char *dir, mirror_tell *tell, void *ctx)
{
    const mirror_table *t = m->table;
    VP_CLEANUP(vp_buf_free) vp_buf above;
    vp_str last = VP_STR_NONE;
    int rc = 0;
    vp_buf_init(&above, 2 * VP_PATH_MAX);
    if (*dir)
        vp_buf_printf(&above, "%s/", dir);
    VP_TRY(above.status);
    vp_str all = vp_buf_view(&above);
    for (size_t i = *dir ? table_place_of(t, all) : 0; rc == 0 && i < t->n; i++) {
        vp_str rest = vp_str_of(t->entries[i].path);
        if (!vp_str_starts(rest, all))
            break;
        rest = vp_str_skip(rest, all.n);
        vp_str name = vp_str_head(rest, vp_str_find(rest, VP_STR("/")));
        if (vp_str_eq(name, last))
            continue; /* another entry of the same directory */
        last = name;
        rc = tell(ctx, name, name.n < rest.n || t->entries[i].bytes < 0);
    }
    return rc < 0 ? rc : 0;
}
