/* Results of opening files, keyed by file identity: a rescan opens only changed files. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

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
    vp_map_init(&m->by_inode);
}

void cat_memo_free(cat_memo *m)
{
    for (size_t i = 0; i < m->count; i++)
        cat_archive_unref(m->entries[i].archive);
    vp_free(m->entries);
    vp_free(m->dirs);
    vp_map_free(&m->by_key);
    vp_map_free(&m->by_inode);
    cat_memo_init(m);
}

static uint64_t memo_key(const vp_file_id *id, uint64_t name_hash)
{
    uint64_t words[5] = {id->dev, id->ino, (uint64_t)id->size, (uint64_t)id->mtime_ns, name_hash};
    return vp_hash(words, sizeof words, 0);
}

static bool is_same_memo_entry(const cat_memo_entry *e, const vp_file_id *id, uint64_t name_hash)
{
    return e->id.dev == id->dev && e->id.ino == id->ino && e->id.size == id->size &&
           e->id.mtime_ns == id->mtime_ns && e->name_hash == name_hash;
}

int cat_memo_put(cat_memo *m, const cat_memo_entry *e)
{
    VP_TRY(vp_grow(&m->entries, &m->cap, m->count + 1, sizeof *m->entries, VP_WALK_ENTRIES_MAX));
    VP_TRY(vp_map_set(&m->by_key, memo_key(&e->id, e->name_hash), (uint32_t)m->count));
    m->entries[m->count++] = *e;
    return 0;
}

const cat_memo_entry *cat_memo_get(const cat_memo *m, const vp_file_id *id, uint64_t name_hash)
{
    uint32_t i = vp_map_get(&m->by_key, memo_key(id, name_hash));
    return i != VP_MAP_NONE && is_same_memo_entry(&m->entries[i], id, name_hash) ? &m->entries[i]
                                                                                 : NULL;
}

static uint64_t memo_dir_key(const vp_file_id *id)
{
    return id->ino ^ vp_mix(id->dev);
}

int cat_memo_put_dir(cat_memo *m, const cat_memo_dir *d)
{
    VP_TRY(vp_grow(&m->dirs, &m->dir_cap, m->dir_count + 1, sizeof *m->dirs, VP_WALK_ENTRIES_MAX));
    VP_TRY(vp_map_set(&m->by_inode, memo_dir_key(&d->id), (uint32_t)m->dir_count));
    m->dirs[m->dir_count++] = *d;
    return 0;
}

const cat_memo_dir *cat_memo_get_dir(const cat_memo *m, const vp_file_id *id,
                                     const struct timespec *changed)
{
    uint32_t i = vp_map_get(&m->by_inode, memo_dir_key(id));
    const cat_memo_dir *d = i == VP_MAP_NONE ? NULL : &m->dirs[i];
    return d && d->id.dev == id->dev && d->id.ino == id->ino &&
                   d->changed.tv_sec == changed->tv_sec && d->changed.tv_nsec == changed->tv_nsec
               ? d
               : NULL;
}
