#include "trace/capture/adapters/nvtx_range.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/base/thread.h"
#include "trace/capture/adapters/step_name.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/pool/thread_names.h"
#include "trace/capture/session/process.h"
#include "trace/capture/session/session.h"

/* Open ranges of one thread, over all domains. A program with more does not end them. */
#define DEPTH_MAX 65536u
/* Open ranges that any thread may end. */
#define RANGES_MAX 1048576u
#define NAMES_MAX 1048576u
#define CATEGORIES_MAX 65536u

typedef struct category {
    uint32_t id;
    char *text;
} category;

struct nvtx_domain {
    char *name;
    category *categories;
    size_t category_count, category_cap;
    nvtx_domain *next;
};

typedef struct name {
    char *text;
    uint32_t id;
} name;

/* An open range. */
typedef struct frame {
    nvtx_domain *domain;
    cap_begun zone;
    bool is_open; /* of a range that any thread may end */
    int depth;    /* in its domain, from 0 */
    uint32_t category;
    vp_arg payload;
} frame;

typedef struct thread {
    frame *frames;
    size_t depth, cap;
    bool in_step;
    uint32_t generation; /* the last recording that the thread took part in */
} thread;

/* lock guards names, which are never freed; range_lock the ranges that any thread may end. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, range_lock = PTHREAD_MUTEX_INITIALIZER;
static nvtx_domain *domains, default_domain;
static name **names;
static size_t name_count, name_cap;
static frame *ranges;
static size_t range_count, range_cap, *free_ranges, free_count, free_cap;
static step_rule rule;
static _Atomic(thread *) stepping; /* the first thread with a step: others record zones */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static __thread thread *own;

/* ---- Threads -------------------------------------------------------------------------------- */

static void drop_thread(void *p)
{
    thread *t = p, *expected = t;
    atomic_compare_exchange_strong(&stepping, &expected, NULL);
    own = NULL;
    for (size_t i = 0; i < t->depth; i++)
        cap_leave(&t->frames[i].zone);
    vp_free(t->frames);
    vp_free(t);
}

/* Locks are held around fork: a child would otherwise wait forever for a lock that another thread
 * held. */
static void nvtx_before_fork(void)
{
    pthread_mutex_lock(&range_lock);
    pthread_mutex_lock(&lock);
}

static void nvtx_after_fork(void)
{
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&range_lock);
}

/* Fork handlers run in reverse order of registration. The recorder's locks are taken while ours are
 * held, so its handlers must be registered first. */
static void nvtx_install_fork_handlers(void)
{
    session_lock();
    int rc = session_install();
    session_unlock();
    if (rc == 0)
        pthread_atfork(nvtx_before_fork, nvtx_after_fork, nvtx_after_fork);
}

void nvtx_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, nvtx_install_fork_handlers);
}

static void create_thread_key(void)
{
    pthread_key_create(&thread_key, drop_thread);
}

/* NULL: out of memory. */
static thread *own_thread(void)
{
    if (own)
        return own;
    nvtx_install();
    pthread_once(&thread_once, create_thread_key);
    thread *t = vp_calloc(1, sizeof *t);
    if (t && pthread_setspecific(thread_key, t) != 0) {
        vp_free(t);
        t = NULL;
    }
    return own = t;
}

void nvtx_name_thread(uint32_t tid, const char *text)
{
    if (tid == (uint32_t)vp_thread_number())
        (void)vp_thread_name(text);
    else
        thread_names_give(tid, text);
}

/* ---- Names ---------------------------------------------------------------------------------- */

nvtx_domain *nvtx_domain_of(const char *text)
{
    nvtx_install();
    pthread_mutex_lock(&lock);
    nvtx_domain *d = domains;
    while (d && strcmp(d->name, text) != 0)
        d = d->next;
    if (!d && (d = vp_calloc(1, sizeof *d))) {
        if ((d->name = vp_strdup(text))) {
            d->next = domains;
            domains = d;
        } else {
            vp_free(d);
            d = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return d;
}

const void *nvtx_register(nvtx_domain *d, const char *text)
{
    nvtx_install();
    pthread_mutex_lock(&lock);
    name *n = NULL;
    if (vp_grow(&names, &name_cap, name_count + 1, sizeof *names, NAMES_MAX) == 0 &&
        (n = vp_calloc(1, sizeof *n))) {
        n->text = vp_strdup(text);
        names[name_count++] = n;
    }
    pthread_mutex_unlock(&lock);
    if (!n || !n->text)
        return NULL;
    n->id = cap_name_in(d ? d->name : NULL, text);
    return n;
}

void nvtx_name_category(nvtx_domain *d, uint32_t id, const char *text)
{
    d = d ? d : &default_domain;
    nvtx_install();
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < d->category_count && d->categories[i].id != id)
        i++;
    char *copy = i == d->category_count ? vp_strdup(text ? text : "") : NULL;
    if (copy && vp_grow(&d->categories, &d->category_cap, i + 1, sizeof *d->categories,
                        CATEGORIES_MAX) == 0) {
        d->categories[d->category_count++] = (category){id, copy};
        copy = NULL;
    }
    pthread_mutex_unlock(&lock);
    vp_free(copy);
}

/* The first name of a category is kept, so that it may be used without the lock. */
static const char *category_name(nvtx_domain *d, uint32_t id)
{
    const char *found = NULL;
    d = d ? d : &default_domain;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < d->category_count && !found; i++)
        if (d->categories[i].id == id)
            found = d->categories[i].text;
    pthread_mutex_unlock(&lock);
    return found;
}

const char *nvtx_text(const void *registered)
{
    return ((const name *)registered)->text;
}

static const char *nvtx_event_text(const nvtx_event *e)
{
    return e->registered ? nvtx_text(e->registered) : e->text;
}

static uint32_t nvtx_event_name(const nvtx_event *e)
{
    const name *n = e->registered;
    return n ? n->id : cap_name_in(e->domain ? e->domain->name : NULL, e->text);
}

/* The name of the step "Step #7" is "Step": the number is stored separately, so there are few
 * names. */
static uint32_t name_of_step(const nvtx_event *e)
{
    char copy[NVTX_NAME_MAX];
    vp_str s = step_name(vp_str_head(vp_str_of(nvtx_event_text(e)), NVTX_NAME_MAX - 1));
    memcpy(copy, s.p, s.n);
    copy[s.n] = 0;
    return cap_name_in(e->domain ? e->domain->name : NULL, copy);
}

/* ---- Recording ------------------------------------------------------------------------------ */

static size_t args_of(vp_arg *out, nvtx_domain *d, uint32_t id, const vp_arg *payload)
{
    size_t n = 0;
    const char *text = id ? category_name(d, id) : NULL;
    if (text)
        out[n++] = (vp_arg){"nvtx_category", VP_ARG_STR, {.s = text}};
    else if (id)
        out[n++] = (vp_arg){"nvtx_category", VP_ARG_I64, {.i = id}};
    if (payload->key)
        out[n++] = *payload;
    return n;
}

static void nvtx_record_range(frame *f)
{
    vp_arg args[2];
    size_t n = 0;
    if (!f->zone.generation)
        return;
    if (!f->zone.is_step)
        n = args_of(args, f->domain, f->category, &f->payload);
    cap_end_args(&f->zone, args, n);
}

/* Begins a range. */
static frame nvtx_frame_of(const nvtx_event *e, bool is_step, uint64_t number)
{
    frame f = {
        .domain = e->domain, .is_open = true, .category = e->category, .payload = e->payload};
    if (cap_generation())
        cap_begin(&f.zone, is_step ? name_of_step(e) : nvtx_event_name(e), is_step, number);
    f.zone.is_step = is_step;
    f.zone.number = number;
    return f;
}

/* True if this range is a step: by its name, by "step" with a number as payload, or by
 * repetition. */
static bool is_nvtx_step(thread *t, const nvtx_event *e, uint64_t *number)
{
    thread *none = NULL;
    const char *text = nvtx_event_text(e);
    vp_str s = vp_str_head(vp_str_of(text), NVTX_NAME_MAX - 1);
    if (t->in_step)
        return false;
    thread *owner = atomic_load_explicit(&stepping, memory_order_relaxed);
    if (owner && owner != t)
        return false;
    bool told =
        e->payload.key && e->payload.type == VP_ARG_I64 && e->payload.v.i >= 0 && step_word(s);
    if (told)
        *number = (uint64_t)e->payload.v.i;
    else if (!step_of_range(&rule, s, t->depth == 0, number))
        return false;
    return owner || atomic_compare_exchange_strong(&stepping, &none, t);
}

/* Depth in a domain. Most programs have one domain, so the top of the stack has it. */
static int depth_in(const thread *t, const nvtx_domain *d)
{
    size_t i = t->depth;
    while (i && t->frames[i - 1].domain != d)
        i--;
    return i ? t->frames[i - 1].depth + 1 : 0;
}

/* Drops ranges of an earlier recording: if no step is awaited, their ends are not tracked between
 * recordings. */
static void forget_earlier(thread *t)
{
    uint32_t generation = cap_generation();
    if (t->generation == generation || __atomic_load_n(&vp__steps, __ATOMIC_RELAXED))
        return;
    t->generation = generation;
    t->depth = 0;
    t->in_step = false;
}

int nvtx_push(const nvtx_event *e)
{
    uint64_t number = 0;
    thread *t = own_thread();
    if (t)
        forget_earlier(t);
    if (!t || vp_grow(&t->frames, &t->cap, t->depth + 1, sizeof *t->frames, DEPTH_MAX) < 0) {
        cap_count_lost(cap_generation(), 1, 0);
        return -1;
    }
    bool step = is_nvtx_step(t, e, &number);
    if (step) {
        t->in_step = true;
        cap_tell_step(true, number);
    }
    int depth = depth_in(t, e->domain);
    t->frames[t->depth] = nvtx_frame_of(e, step, number);
    t->frames[t->depth].depth = depth;
    t->depth++;
    return depth;
}

int nvtx_pop(nvtx_domain *d)
{
    thread *t = own;
    if (t)
        forget_earlier(t);
    size_t at = t ? t->depth : 0;
    while (at && t->frames[at - 1].domain != d)
        at--;
    if (!at)
        return -1;
    frame f = t->frames[at - 1];
    bool step = f.zone.is_step;
    uint64_t number = f.zone.number;
    nvtx_record_range(&f);
    memmove(&t->frames[at - 1], &t->frames[at], (t->depth - at) * sizeof f);
    t->depth--;
    if (step) {
        t->in_step = false;
        cap_tell_step(false, number);
    }
    return depth_in(t, d);
}

uint64_t nvtx_start(const nvtx_event *e)
{
    frame f = nvtx_frame_of(e, false, 0);
    uint64_t id = 0;
    nvtx_install();
    pthread_mutex_lock(&range_lock);
    if (free_count) {
        id = free_ranges[--free_count];
    } else if (vp_grow(&ranges, &range_cap, range_count + 1, sizeof *ranges, RANGES_MAX) == 0 &&
               vp_grow(&free_ranges, &free_cap, range_count + 1, sizeof *free_ranges, RANGES_MAX) ==
                   0) {
        id = range_count++;
    } else {
        pthread_mutex_unlock(&range_lock);
        cap_leave(&f.zone);
        return 0;
    }
    ranges[id] = f;
    pthread_mutex_unlock(&range_lock);
    return id + 1;
}

void nvtx_end(uint64_t id)
{
    frame f = {.is_open = false};
    pthread_mutex_lock(&range_lock);
    if (id && id <= range_count && ranges[id - 1].is_open) {
        f = ranges[id - 1];
        ranges[id - 1] = (frame){.is_open = false}; /* a second end does nothing */
        free_ranges[free_count++] = id - 1;
    }
    pthread_mutex_unlock(&range_lock);
    nvtx_record_range(&f);
}

void nvtx_mark(const nvtx_event *e)
{
    vp_arg args[2];
    if (cap_generation())
        cap_instant(nvtx_event_name(e), args, args_of(args, e->domain, e->category, &e->payload));
}
