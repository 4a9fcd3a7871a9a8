/* What a scan learnt by opening files, keyed by what they were: a rescan opens only what changed.
 */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog_impl.h"

void cat_archive_unref(cat_archive *a)
{
    if (!a || atomic_fetch_sub(&a->refs, 1) != 1)
        return;
    ar_index_free(a->index);
    vp_free(a);
}

void cat_memo_init(cat_memo *m)
{
    *m = (cat_memo){0};
    vp_map_init(&m->by_key);
}

void cat_memo_free(cat_memo *m)
{
    for (size_t i = 0; i < m->count; i++)
        cat_archive_unref(m->entries[i].archive);
    vp_free(m->entries);
    vp_map_free(&m->by_key);
    cat_memo_init(m);
}

static uint64_t key_of(const vp_file_id *id, uint64_t name_hash)
{
    uint64_t words[5] = {id->dev, id->ino, (uint64_t)id->size, (uint64_t)id->mtime_ns, name_hash};
    return vp_hash(words, sizeof words, 0);
}

static bool same(const cat_memo_entry *e, const vp_file_id *id, uint64_t name_hash)
{
    return e->id.dev == id->dev && e->id.ino == id->ino && e->id.size == id->size &&
           e->id.mtime_ns == id->mtime_ns && e->name_hash == name_hash;
}

int cat_memo_put(cat_memo *m, const cat_memo_entry *e)
{
    VP_TRY(vp_grow(&m->entries, &m->cap, m->count + 1, sizeof *m->entries, VP_WALK_ENTRIES_MAX));
    VP_TRY(vp_map_set(&m->by_key, key_of(&e->id, e->name_hash), (uint32_t)m->count));
    m->entries[m->count++] = *e;
    return 0;
}

const cat_memo_entry *cat_memo_get(const cat_memo *m, const vp_file_id *id, uint64_t name_hash)
{
    uint32_t i = vp_map_get(&m->by_key, key_of(id, name_hash));
    return i != VP_MAP_NONE && same(&m->entries[i], id, name_hash) ? &m->entries[i] : NULL;
}
