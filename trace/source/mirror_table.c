/* What a mirror knows of its objects, and their addresses. */
#include "trace/base/mem.h"
#include "trace/source/mirror_impl.h"

mirror_table *mirror_table_new(void)
{
    mirror_table *t = vp_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    vp_arena_init(&t->arena);
    vp_map_init(&t->by_ino);
    vp_map_init(&t->by_path);
    vp_map_init(&t->dirs);
    return t;
}

void mirror_table_free(mirror_table *t)
{
    if (!t)
        return;
    vp_arena_free(&t->arena);
    vp_map_free(&t->by_ino);
    vp_map_free(&t->by_path);
    vp_map_free(&t->dirs);
    vp_free(t->entries);
    vp_free(t);
}

const mirror_entry *mirror_at(const mirror_table *t, vp_str path)
{
    uint32_t i = vp_map_get(&t->by_path, mirror_key(path));
    return i != VP_MAP_NONE && vp_str_eq(vp_str_of(t->entries[i].path), path) ? &t->entries[i]
                                                                              : NULL;
}

char *mirror_url_of(const mirror *m, const char *path)
{
    return !*path && m->is_file ? vp_strdup(m->at.url) : source_address_beneath(&m->at, path);
}
