/* Names built at run time: each has its own site, created once, found by its number without a
 * lock. */
#include <pthread.h>

#include "include/view_profile_capture.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/pool/tables.h"
#include "trace/capture/threads/recording_thread.h"

#define BLOCK 256u
#define BLOCKS 4096u /* a million names: more means a new name per event */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vp_arena texts;
static vp_intern known;
static bool is_ready;
static vp__site *blocks[BLOCKS];

void cap_names_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cap_names_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static int prepare_name_table(void)
{
    if (is_ready)
        return 0;
    vp_arena_init(&texts);
    VP_TRY(vp_intern_init(&known, &texts));
    is_ready = true;
    return 0;
}

/* prefix: number of bytes before the name itself. */
static int add_dynamic_name(uint32_t *out, vp_str name, size_t prefix, const char *category)
{
    vp_sid id;
    VP_TRY(prepare_name_table());
    if (known.count >= BLOCK * BLOCKS)
        return vp_fail(VP_ELIMIT, "more than %u names", BLOCK * BLOCKS);
    VP_TRY(vp_intern_put(&known, name, &id));
    vp__site **block = &blocks[id / BLOCK];
    if (!*block) {
        vp__site *made = vp_calloc(BLOCK, sizeof *made);
        if (!made)
            return vp_fail(VP_ENOMEM, "out of memory: a name");
        __atomic_store_n(block, made, __ATOMIC_RELEASE);
    }
    vp__site *s = &(*block)[id % BLOCK];
    if (!s->name) {
        const char *text = vp_intern_get(&known, id).p;
        s->kind = VP__ZONE;
        s->level = VP_LEVEL_USER;
        s->category = category;
        __atomic_store_n(&s->name, text + prefix, __ATOMIC_RELEASE);
    }
    *out = id;
    return 0;
}

uint32_t vp_name(const char *name)
{
    uint32_t id = 0;
    if (!name || !*name)
        name = name ? "(empty)" : "(null)";
    pthread_mutex_lock(&lock);
    add_dynamic_name(&id, vp_str_head(vp_str_of(name), VPCAP_STRING_MAX), 0, NULL);
    pthread_mutex_unlock(&lock);
    return id;
}

/* The text is the category and the name, separated by a byte that occurs in no name. The category
 * is itself a known text, which is never freed. */
static int add_in(uint32_t *out, vp_str category, vp_str name)
{
    vp_sid kept;
    VP_CLEANUP(vp_buf_free) vp_buf both;
    vp_buf_init(&both, 2 * VPCAP_STRING_MAX + 2);
    vp_buf_str(&both, category);
    vp_buf_putc(&both, '\0');
    VP_TRY(vp_buf_str(&both, name));
    VP_TRY(prepare_name_table());
    VP_TRY(vp_intern_put(&known, category, &kept));
    return add_dynamic_name(out, vp_buf_view(&both), category.n + 1, vp_intern_get(&known, kept).p);
}

uint32_t cap_name_in(const char *category, const char *name)
{
    uint32_t id = 0;
    if (!category || !*category)
        return vp_name(name);
    name = !name ? "(null)" : *name ? name : "(empty)";
    pthread_mutex_lock(&lock);
    add_in(&id, vp_str_head(vp_str_of(category), VPCAP_STRING_MAX),
           vp_str_head(vp_str_of(name), VPCAP_STRING_MAX));
    pthread_mutex_unlock(&lock);
    return id;
}

/* Like add_in, with the source location before the name: it begins with a byte that no category
 * begins with. */
static int add_at(uint32_t *out, vp_str file, uint32_t line, vp_str name)
{
    vp_sid kept;
    VP_CLEANUP(vp_buf_free) vp_buf both;
    vp_buf_init(&both, 2 * VPCAP_STRING_MAX + 32);
    vp_buf_printf(&both, "\1%u:", line);
    vp_buf_str(&both, file);
    VP_TRY(vp_buf_putc(&both, '\0'));
    size_t prefix = both.n;
    VP_TRY(vp_buf_str(&both, name));
    VP_TRY(prepare_name_table());
    VP_TRY(vp_intern_put(&known, file, &kept));
    VP_TRY(add_dynamic_name(out, vp_buf_view(&both), prefix, NULL));
    vp__site *s = &blocks[*out / BLOCK][*out % BLOCK];
    s->line = line;
    s->file = vp_intern_get(&known, kept).p;
    return 0;
}

uint32_t cap_name_at(const char *file, uint32_t line, const char *name)
{
    uint32_t id = 0;
    if (!file || !*name)
        return vp_name(name);
    pthread_mutex_lock(&lock);
    add_at(&id, vp_str_head(vp_str_of(file), VPCAP_STRING_MAX), line,
           vp_str_head(vp_str_of(name), VPCAP_STRING_MAX));
    pthread_mutex_unlock(&lock);
    return id;
}

vp__site *cap_known_site(uint32_t name)
{
    vp__site *block = name && name < BLOCK * BLOCKS
                          ? __atomic_load_n(&blocks[name / BLOCK], __ATOMIC_ACQUIRE)
                          : NULL;
    vp__site *s = block ? &block[name % BLOCK] : NULL;
    return s && __atomic_load_n(&s->name, __ATOMIC_ACQUIRE) ? s : NULL;
}

/* An invalid number gets a site, too: vp_name may have been out of space, and the zone is recorded
 * anyway. */
vp__site *vp__site_of(uint32_t name)
{
    static vp__site nameless = {.name = "(no name)", .kind = VP__ZONE, .level = VP_LEVEL_USER};
    vp__site *s = cap_known_site(name);
    return s ? s : &nameless;
}
