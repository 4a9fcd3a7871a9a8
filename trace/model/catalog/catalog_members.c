/* Groups the members of an archive as if they were in directories. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct member {
    vp_str dir, name;
    const ar_member *m; /* NULL: lost */
} member;

static int by_directory(const void *pa, const void *pb)
{
    const member *a = pa, *b = pb;
    size_t n = a->dir.n < b->dir.n ? a->dir.n : b->dir.n;
    int order = memcmp(a->dir.p, b->dir.p, n);
    if (!order && a->dir.n != b->dir.n)
        order = a->dir.n < b->dir.n ? -1 : 1;
    return order ? order : strcmp(a->name.p, b->name.p);
}

static bool is_hidden_member(const char *name)
{
    return name[0] == '.' || strstr(name, "/.");
}

static void split_name(member *out, size_t *n, const char *name, const ar_member *m)
{
    vp_str path = vp_str_of(name);
    size_t slash = vp_str_rfind_char(path, '/');
    bool top = slash == path.n;
    if (!is_hidden_member(name))
        out[(*n)++] =
            (member){{path.p, top ? 0 : slash}, vp_str_skip(path, top ? 0 : slash + 1), m};
}

static size_t split_members(const ar_index *index, member *out)
{
    size_t n = 0;
    for (size_t i = 0; i < index->member_count; i++)
        split_name(out, &n, index->members[i].name, &index->members[i]);
    for (size_t i = 0; i < index->refusal_count; i++)
        if (index->refusals[i].lost)
            split_name(out, &n, index->refusals[i].name, NULL);
    qsort(out, n, sizeof *out, by_directory);
    return n;
}

/* The file expected by its name is missing, so its run is listed without it instead of being
 * omitted. */
static void look_at_lost(cat_found *out)
{
    bool trace = rd_is_timeline(rd_detect_name(out->name).format);
    out->kind = (rd_kind){.format = trace ? RD_UNREADABLE : RD_UNKNOWN};
    out->why = "incomplete in its archive";
}

static int look_at_member(const cat_found *file, const member *m, cat_found *out)
{
    *out = (cat_found){.name = m->name,
                       .bytes = -1,
                       .mtime_ns = file->mtime_ns,
                       .id = file->id,
                       .member_index = UINT32_MAX,
                       .cut = file->cut};
    if (!m->m) {
        look_at_lost(out);
        return 0;
    }
    out->bytes = m->m->size;
    out->mtime_ns = m->m->mtime_ns > 0 ? m->m->mtime_ns : file->mtime_ns;
    out->member_index = m->m->index;
    return cat_look_member(m->m, out);
}

/* Groups members[0..n), which are in one directory. */
static int group_directory(cat_scan *s, const cat_found *file, const char *path,
                           const member *members, size_t n, cat_found *found)
{
    cat_dir d = {.full = members[0].dir, .archive = path, .files = found};
    for (size_t i = 0; i < n; i++) {
        cat_found f;
        VP_TRY(cat_tick(s));
        VP_TRY(look_at_member(file, &members[i], &f));
        s->c->seen.files++;
        if (f.kind.format == RD_CACHE)
            d.caches++;
        else if (f.kind.format != RD_UNKNOWN)
            found[d.count++] = f;
    }
    s->c->seen.caches += d.caches;
    return cat_group(s, &d);
}

static int note_refusals(catalog *c, const char *path, const ar_index *index)
{
    for (size_t i = 0; i < index->refusal_count; i++) {
        char name[VP_PATH_MAX + VP_MEMBER_NAME_MAX];
        snprintf(name, sizeof name, "%s!%s", path, index->refusals[i].name);
        VP_TRY(cat_note_add(c, name, index->refusals[i].why));
    }
    return index->damage.code ? cat_note_add(c, path, index->damage.message) : 0;
}

int cat_members(cat_scan *s, const cat_found *archive, const char *path, const cat_archive *a)
{
    size_t count = a->index->member_count + a->index->refusal_count;
    const char *damage = a->index->damage.code ? a->index->damage.message : NULL;
    cat_found like = *archive, *file = &like;
    VP_TRY(note_refusals(s->c, path, a->index));
    if (!count)
        return 0;
    if (damage)
        file->cut = vp_arena_strndup(&s->c->arena, damage, strlen(damage));
    VP_CLEANUP(vp_free_ptr) member *members = vp_calloc(count, sizeof *members);
    VP_CLEANUP(vp_free_ptr) cat_found *found = vp_calloc(count, sizeof *found);
    const char *kept = vp_arena_strndup(&s->c->arena, path, strlen(path));
    if (!members || !found || !kept || (damage && !file->cut))
        return vp_fail(VP_ENOMEM, "out of memory for the list of an archive");
    count = split_members(a->index, members);
    for (size_t first = 0, i = 1; count && i <= count && !s->stopped; i++) {
        if (i < count && vp_str_eq(members[i].dir, members[first].dir))
            continue;
        VP_TRY(group_directory(s, file, kept, members + first, i - first, found));
        first = i;
    }
    return 0;
}
