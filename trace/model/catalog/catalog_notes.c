/* Notes of a scan, and its limits. */
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

/* Further notes (a million dangling links, a hostile archive) are only counted. */
#define NOTES_MAX 10000u

static int add_note(catalog *c, const char *path, const char *why)
{
    cat_note n = {vp_arena_strndup(&c->arena, path, strlen(path)),
                  vp_arena_strndup(&c->arena, why, strlen(why))};
    if (!n.path || !n.why)
        return vp_fail(VP_ENOMEM, "out of memory for notes");
    VP_TRY(vp_grow(&c->notes, &c->note_cap, c->note_count + 1, sizeof *c->notes, NOTES_MAX + 1));
    c->notes[c->note_count++] = n;
    return 0;
}

int cat_note_add(catalog *c, const char *path, const char *why)
{
    if (c->note_count < NOTES_MAX)
        return add_note(c, path, why);
    c->seen.notes_dropped++;
    return 0;
}

int cat_notes_end(catalog *c)
{
    char why[64];
    if (!c->seen.notes_dropped)
        return 0;
    snprintf(why, sizeof why, "%llu more notes not listed",
             (unsigned long long)c->seen.notes_dropped);
    return add_note(c, ".", why);
}

int cat_tick(cat_scan *s)
{
    if (s->entries >= VP_WALK_ENTRIES_MAX && !s->stopped) {
        s->stopped = true;
        return cat_note_add(s->c, ".",
                            "scan stopped: too many files; give a directory further down");
    }
    s->entries++;
    if (s->opts->live) {
        atomic_store_explicit(&s->opts->live->entries, s->entries, memory_order_relaxed);
        atomic_store_explicit(&s->opts->live->sessions, s->c->count, memory_order_relaxed);
        if (atomic_load_explicit(&s->opts->live->stop, memory_order_relaxed))
            return vp_fail(VP_ECANCELLED, "canceled while listing");
    }
    if (s->entries % 1024 == 0 && s->opts->progress &&
        s->opts->progress(s->opts->progress_ctx, (int64_t)s->entries, -1))
        return vp_fail(VP_ECANCELLED, "canceled while listing");
    return 0;
}
