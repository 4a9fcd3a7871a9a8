/* The table of a mirror's objects, and their addresses. */
#include "trace/base/mem.h"
#include "trace/source/mirror_impl.h"

mirror_table *mirror_table_new(void)
{
    mirror_table *t = vp_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    vp_arena_init(&t->arena);
    vp_map_init(&t->by_ino);
    return t;
}

void mirror_table_free(mirror_table *t)
{
    if (!t)
        return;
    vp_arena_free(&t->arena);
    vp_map_free(&t->by_ino);
    vp_free(t->entries);
    vp_free(t);
}

char *mirror_url_of(const mirror *m, const char *path)
{
    return !*path && m->is_file ? vp_strdup(m->at.url) : source_address_beneath(&m->at, path);
}
