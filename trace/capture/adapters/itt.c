#include "trace/capture/adapters/itt.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/capture/adapters/nvtx_range.h"

/* ---- Data of the program ---- */

typedef void itt_fn(void);

/* __itt_api_info: a function of the interface, by name. The last one has the name NULL. */
typedef struct api_entry {
    const char *name;
    itt_fn **function;
    itt_fn *at_first, *without_collector; /* without_collector NULL: nothing is called */
    int group;
} api_entry;

/* __itt_global, up to the members that are needed. */
typedef struct itt_global {
    unsigned char magic[8];
    unsigned long major, minor, build;
    long initialized, mutex_initialized, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **library_path;
    api_entry *functions;
} itt_global;

typedef struct itt_id {
    uint64_t words[3];
} itt_id;

/* Domains that the program made before it looked for a collector, followed by ours. They are never
 * freed. */
typedef struct itt_domain {
    volatile int enabled;
    const char *name;
    void *wide_name;
    int extra;
    void *ours; /* an nvtx_domain, which also serves ITT; NULL: not created yet */
    struct itt_domain *next;
} itt_domain;

typedef struct itt_string {
    const char *text;
    void *wide_text;
    int extra;
    void *extra_too;
    struct itt_string *next;
} itt_string;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static itt_domain *domains;
static vp_arena texts;
static vp_intern known;
static itt_string **strings; /* by their number in `known` */
static size_t string_cap;

static nvtx_domain *domain_of(itt_domain *d)
{
    nvtx_domain *have = __atomic_load_n(&d->ours, __ATOMIC_ACQUIRE);
    if (!have) { /* concurrent threads get the same domain */
        have = nvtx_domain_of(d->name ? d->name : "");
        __atomic_store_n(&d->ours, have, __ATOMIC_RELEASE);
    }
    return have;
}

static bool is_domain_on(const itt_domain *d)
{
    return d && d->enabled;
}

static nvtx_event itt_event_of(itt_domain *d, const itt_string *name)
{
    return (nvtx_event){.domain = domain_of(d),
                        .text = name && name->text ? name->text : "(unnamed)"};
}

/* ---- Domains and names ----------------------------------------------------------------------- */

#define STRINGS_MAX (1u << 20)

static itt_domain *domain_create(const char *name)
{
    if (!name)
        return NULL;
    pthread_mutex_lock(&lock);
    itt_domain *d = domains;
    while (d && strcmp(d->name, name) != 0)
        d = d->next;
    char *kept = d ? NULL : vp_strdup(name);
    if (kept && (d = vp_calloc(1, sizeof *d))) {
        *d = (itt_domain){.enabled = 1, .name = kept, .next = domains};
        domains = d;
    } else if (kept) {
        vp_free(kept);
    }
    pthread_mutex_unlock(&lock);
    return d;
}

static int make_string(itt_string **out, const char *text)
{
    static bool is_ready;
    vp_sid id;
    if (!is_ready) {
        vp_arena_init(&texts);
        VP_TRY(vp_intern_init(&known, &texts));
        is_ready = true;
    }
    VP_TRY(vp_intern_put(&known, vp_str_head(vp_str_of(text), NVTX_NAME_MAX), &id));
    size_t had = string_cap;
    VP_TRY(vp_grow(&strings, &string_cap, (size_t)id + 1, sizeof(itt_string *), STRINGS_MAX));
    if (string_cap > had)
        memset(strings + had, 0, (string_cap - had) * sizeof(itt_string *));
    if (!strings[id] && (strings[id] = vp_calloc(1, sizeof **strings)))
        strings[id]->text = vp_intern_get(&known, id).p;
    *out = strings[id];
    return 0;
}

/* Fast for a known text, because a program may request its handle for every task. */
static itt_string *string_handle_create(const char *text)
{
    itt_string *s = NULL;
    if (!text)
        return NULL;
    pthread_mutex_lock(&lock);
    (void)make_string(&s, text);
    pthread_mutex_unlock(&lock);
    return s;
}

/* ---- Zones with an id, which may end on any thread ---- */

#define OPEN_MAX 65536u

typedef struct open_zone {
    const itt_domain *domain;
    itt_id id;
    bool is_frame;
    uint64_t range;
} open_zone;

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static open_zone *open_zones;
static size_t open_count, open_cap;

static void begin_by_id(itt_domain *d, const itt_id *id, bool is_frame, const nvtx_event *e)
{
    uint64_t range = nvtx_start(e);
    if (!range)
        return;
    pthread_mutex_lock(&open_lock);
    bool ok = vp_grow(&open_zones, &open_cap, open_count + 1, sizeof *open_zones, OPEN_MAX) >= 0;
    if (ok)
        open_zones[open_count++] = (open_zone){d, id ? *id : (itt_id){{0}}, is_frame, range};
    pthread_mutex_unlock(&open_lock);
    if (!ok)
        nvtx_end(range);
}

/* Ends the zone with this id that began last. */
static void end_by_id(const itt_domain *d, const itt_id *id, bool is_frame)
{
    itt_id wanted = id ? *id : (itt_id){{0}};
    uint64_t range = 0;
    pthread_mutex_lock(&open_lock);
    for (size_t i = open_count; i-- && !range;) {
        const open_zone *z = &open_zones[i];
        if (z->domain != d || z->is_frame != is_frame || memcmp(&z->id, &wanted, sizeof wanted))
            continue;
        range = z->range;
        memmove(&open_zones[i], &open_zones[i + 1], (--open_count - i) * sizeof *open_zones);
    }
    pthread_mutex_unlock(&open_lock);
    if (range)
        nvtx_end(range);
}

/* ---- The functions --------------------------------------------------------------------------- */

static void task_begin(itt_domain *d, itt_id id, itt_id parent, const itt_string *name)
{
    (void)id;
    (void)parent;
    if (!is_domain_on(d))
        return;
    nvtx_event e = itt_event_of(d, name);
    nvtx_push(&e);
}

static void task_end(itt_domain *d)
{
    if (is_domain_on(d))
        nvtx_pop(domain_of(d));
}

static void zone_begin(itt_domain *d, itt_id id, itt_id parent, const itt_string *name)
{
    (void)parent;
    if (!is_domain_on(d))
        return;
    nvtx_event e = itt_event_of(d, name);
    begin_by_id(d, &id, false, &e);
}

static void zone_end(itt_domain *d, itt_id id)
{
    if (is_domain_on(d))
        end_by_id(d, &id, false);
}

static void frame_begin(itt_domain *d, const itt_id *id)
{
    if (!is_domain_on(d))
        return;
    char text[NVTX_NAME_MAX];
    snprintf(text, sizeof text, "%s frame", d->name ? d->name : "(unnamed)");
    nvtx_event e = {.domain = domain_of(d), .text = text};
    begin_by_id(d, id, true, &e);
}

static void frame_end(itt_domain *d, const itt_id *id)
{
    if (is_domain_on(d))
        end_by_id(d, id, true);
}

static void itt_marker(itt_domain *d, itt_id id, const itt_string *name, int scope)
{
    (void)id;
    (void)scope;
    if (!is_domain_on(d))
        return;
    nvtx_event e = itt_event_of(d, name);
    nvtx_mark(&e);
}

static void thread_set_name(const char *name)
{
    if (name)
        (void)vp_thread_name(name);
}

/* ---- Attaching ------------------------------------------------------------------------------- */

#define FN(f) ((itt_fn *)(void (*)(void))(f))

static itt_fn *function_of(const char *name)
{
    static const struct {
        const char *name;
        itt_fn *function;
    } ours[] = {
        {"__itt_domain_create", FN(domain_create)},
        {"__itt_string_handle_create", FN(string_handle_create)},
        {"__itt_task_begin", FN(task_begin)},
        {"__itt_task_end", FN(task_end)},
        {"__itt_task_begin_overlapped", FN(zone_begin)},
        {"__itt_task_end_overlapped", FN(zone_end)},
        {"__itt_region_begin", FN(zone_begin)},
        {"__itt_region_end", FN(zone_end)},
        {"__itt_frame_begin_v3", FN(frame_begin)},
        {"__itt_frame_end_v3", FN(frame_end)},
        {"__itt_marker", FN(itt_marker)},
        {"__itt_thread_set_name", FN(thread_set_name)},
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i].name) == 0)
            return ours[i].function;
    return NULL;
}

/* Locks are held around fork, so that the data they guard is consistent in the child. */
static void itt_before_fork(void)
{
    pthread_mutex_lock(&open_lock);
    pthread_mutex_lock(&lock);
}

static void itt_after_fork(void)
{
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&open_lock);
}

static void itt_install(void)
{
    nvtx_install();
    pthread_atfork(itt_before_fork, itt_after_fork, itt_after_fork);
}

void itt_attach(void *global)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};
    itt_global *g = global;
    if (!g || memcmp(g->magic, magic, sizeof magic) != 0 || g->major != 3 || !g->functions)
        return;
    pthread_once(&once, itt_install);
    /* Functions that we lack keep their behavior without a collector. */
    for (const api_entry *e = g->functions; e->name; e++) {
        itt_fn *ours = function_of(e->name);
        *e->function = ours ? ours : e->without_collector;
    }
}
