/* Names, times and ids of runs. */
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/radix.h"
#include "trace/base/time.h"
#include "trace/model/catalog/catalog_impl.h"

#include <stdio.h>
#include <stdlib.h>

#define ID_MAX 150u

/* Removes and returns the last component of a path. */
static vp_str pop_path_component(vp_str *path)
{
    size_t slash = vp_str_rfind_char(*path, '/');
    vp_str last = slash == path->n ? *path : vp_str_skip(*path, slash + 1);
    *path = vp_str_head(*path, slash == path->n ? 0 : slash);
    return last;
}

/* Splits ".../TB_RUN/plugins/profile/RUN". */
static bool split_run(vp_str full, vp_str *tb_run, vp_str *run)
{
    vp_str rest = full;
    *run = pop_path_component(&rest);
    if (!run->n || !vp_str_eq(pop_path_component(&rest), VP_STR("profile")) ||
        !vp_str_eq(pop_path_component(&rest), VP_STR("plugins")))
        return false;
    *tb_run = rest;
    return true;
}

bool cat_is_run(const cat_dir *d)
{
    vp_str tb_run, run;
    return split_run(d->full, &tb_run, &run);
}

static vp_str dir_path_below_root(const cat_dir *d, vp_str path)
{
    vp_str rel = vp_str_skip(path, d->root_n);
    return rel.n && *rel.p == '/' ? vp_str_skip(rel, 1) : rel;
}

vp_str cat_relative(const cat_dir *d)
{
    return dir_path_below_root(d, d->full);
}

const char *cat_join(cat_scan *s, vp_str a, const char *sep, vp_str b)
{
    size_t sep_n = a.n && b.n ? strlen(sep) : 0;
    char *p = vp_arena_alloc(&s->c->arena, a.n + sep_n + b.n + 1);
    if (!p)
        return NULL;
    if (a.n)
        memcpy(p, a.p, a.n);
    memcpy(p + a.n, sep, sep_n);
    if (b.n)
        memcpy(p + a.n + sep_n, b.p, b.n);
    p[a.n + sep_n + b.n] = 0;
    return p;
}

const char *cat_path_of(cat_scan *s, const cat_dir *d, vp_str name)
{
    vp_str rel = cat_relative(d);
    const char *path = rel.n || name.n ? cat_join(s, rel, "/", name) : d->archive ? "" : ".";
    return path && d->archive ? cat_join(s, vp_str_of(d->archive), "!", vp_str_of(path)) : path;
}

/* Prefixes members of an archive below the root with the archive's name, as if it were a
 * directory. */
static const char *in_archive(cat_scan *s, const cat_dir *d, const char *name)
{
    if (!name || !d->archive || s->c->single)
        return name;
    return cat_join(s, vp_str_of(d->archive), "/", vp_str_of(name));
}

const char *cat_dir_name(cat_scan *s, const cat_dir *d)
{
    vp_str tb_run, run, all = d->full, rel = cat_relative(d);
    if (split_run(d->full, &tb_run, &run))
        return in_archive(s, d, cat_join(s, dir_path_below_root(d, tb_run), "/", run));
    if (rel.n)
        return in_archive(s, d, cat_join(s, rel, "/", VP_STR_NONE));
    if (d->archive)
        return d->archive;
    return cat_join(s, all.n > 1 ? pop_path_component(&all) : VP_STR("root"), "/", VP_STR_NONE);
}

const char *cat_stray_name(cat_scan *s, const cat_dir *d, vp_str name)
{
    return in_archive(s, d, cat_join(s, cat_relative(d), "/", name));
}

bool cat_worker_time(vp_str name, vp_str *stem, vp_str *digits, int64_t *unix_ns)
{
    size_t dot;
    if (vp_str_ends(name, VP_STR(".gz")))
        name.n -= 3;
    if (!vp_str_ends(name, VP_STR(".pt.trace.json")))
        return false;
    name.n -= sizeof ".pt.trace.json" - 1;
    dot = vp_str_rfind_char(name, '.');
    if (dot == name.n || dot == 0)
        return false;
    vp_str number = vp_str_skip(name, dot + 1);
    if (!vp_time_from_epoch_digits(number, unix_ns))
        return false;
    *stem = vp_str_head(name, dot);
    *digits = number;
    return true;
}

static bool is_slug_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

/* Appends '~', which no slug contains, and 32 bits of a hash as eight hex digits. */
static const char *with_hash(catalog *c, vp_str slug, uint64_t hash)
{
    char *id = vp_arena_alloc(&c->arena, slug.n + 10);
    if (!id)
        return NULL;
    memcpy(id, slug.p, slug.n);
    snprintf(id + slug.n, 10, "~%08x", (unsigned)(hash & 0xffffffffu));
    return id;
}

/* Depends on the name only. If the slug loses characters, a hash of the name is appended, so that
 * different names stay different. */
const char *cat_slug(catalog *c, const char *name)
{
    char slug[ID_MAX + 1];
    size_t n = strlen(name), kept = n < ID_MAX ? n : ID_MAX;
    bool lossy = kept < n || kept == 0;
    for (size_t i = 0; i < kept; i++) {
        bool ok = is_slug_char(name[i]) && !(i == 0 && name[i] == '.');
        slug[i] = ok ? name[i] : '-';
        lossy |= !ok && name[i] != '/';
    }
    if (lossy)
        return with_hash(c, (vp_str){slug, kept}, vp_fingerprint(name, n, 0));
    return vp_arena_strndup(&c->arena, slug, kept);
}

static const char *session_place(const cat_session *s)
{
    return s->file_count ? s->files[0].path : s->path;
}

static int by_session_id(const void *pa, const void *pb)
{
    const cat_session *a = *(cat_session *const *)pa, *b = *(cat_session *const *)pb;
    int order = strcmp(a->id, b->id);
    return order ? order : strcmp(session_place(a), session_place(b));
}

/* Below this number, sorting ids is faster than comparing their hashes. */
#define MANY 1000

/* 1: all hashes differ, the normal case, so all ids differ. 0: some ids may be equal. */
static int ids_differ(const catalog *c)
{
    if (c->count < MANY)
        return 0;
    VP_CLEANUP(vp_free_ptr) uint64_t *room = vp_realloc_array(NULL, c->count, 2 * sizeof *room);
    if (!room)
        return cat_no_memory();
    for (size_t i = 0; i < c->count; i++) {
        const char *id = c->sessions[i].id;
        room[i] = vp_hash(id, strlen(id), 0);
    }
    const uint64_t *hashes = vp_radix_sort(room, room + c->count, c->count, 0, 64);
    for (size_t i = 1; i < c->count; i++)
        if (hashes[i] == hashes[i - 1])
            return 0;
    return 1;
}

/* Of runs with the same slug ("a/b" and "a-b") the first by path keeps it. */
static int make_unique(catalog *c)
{
    VP_CLEANUP(vp_free_ptr) cat_session **sorted = vp_calloc(c->count, sizeof *sorted);
    if (!sorted)
        return cat_no_memory();
    for (size_t i = 0; i < c->count; i++)
        sorted[i] = &c->sessions[i];
    qsort(sorted, c->count, sizeof *sorted, by_session_id);
    for (size_t i = 0, first = 0; i < c->count; i++) {
        cat_session *s = sorted[i];
        if (strcmp(sorted[first]->id, s->id) != 0) {
            first = i;
        } else if (i != first) {
            const char *p = session_place(s);
            s->id = with_hash(c, vp_str_of(s->id), vp_fingerprint(p, strlen(p), 1));
            if (!s->id)
                return cat_no_memory();
        }
    }
    return 0;
}

static int order_descending(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int newest_session_first(const void *pa, const void *pb)
{
    const cat_session *a = pa, *b = pb;
    int order = (int)a->stray - (int)b->stray;
    if (!order)
        order = order_descending(a->captured_unix_ns, b->captured_unix_ns);
    if (!order)
        order = order_descending(a->newest_mtime_ns, b->newest_mtime_ns);
    if (!order)
        order = strcmp(b->name, a->name);
    return order ? order : strcmp(b->id, a->id);
}

int cat_sessions_finish(catalog *c)
{
    if (!c->count)
        return 0;
    int apart = ids_differ(c);
    VP_TRY(apart);
    if (!apart)
        VP_TRY(make_unique(c));
    qsort(c->sessions, c->count, sizeof *c->sessions, newest_session_first);
    return 0;
}
