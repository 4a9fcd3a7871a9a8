#include "trace/read/xspace/xs_workers.h"

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* More do not help: cutting and joining are done by one thread. */
#define THREADS_MAX 16
/* File size in bytes per thread; reading this much takes as long as starting a thread. */
#define BYTES_A_THREAD (1 << 20)
/* Parts per thread: one thread may decode these while another touches two megabytes of new memory
 * for the first time. With three, up to a tenth of the time was spent waiting. */
#define PARTS_A_THREAD 5
/* Sections that are scanned before their line is requested, in addition to one per thread. With few
 * of them, bytes that are decoded soon are still cached (trace/source/object.c). */
#define SECTIONS_AHEAD 2

/* State of a part, or of a section of a line. WAITS: to be decoded, or scanned. */
typedef enum work_state { FREE, WAITS, IN_HAND, DONE } work_state;

typedef struct section {
    xs_section s;
    work_state state; /* changed under the lock */
} section;

/* Tools of a thread. */
typedef struct tools {
    xs_decoder decoder;
    xs_window window;
} tools;

struct xs_workers {
    xs_reader *r;
    vp_mem_budget *budget;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    xs_part *parts;    /* a ring: first <= next <= last */
    work_state *state; /* changed under the lock */
    size_t part_n;
    uint64_t first;    /* the first part that is not joined */
    uint64_t next;     /* the first part that no thread decodes */
    uint64_t last;     /* the part being filled */
    section *sections; /* of all lines, in order */
    size_t section_n, section_cap;
    size_t shown;     /* visible to threads: the array must not move while one scans a section */
    size_t asked;     /* first section of the next line to request; guarded by the lock, too */
    size_t untouched; /* the first section that no thread scans */
    xs_cut *cuts;     /* of the last requested line */
    size_t cut_n, cut_cap;
    tools mine; /* of the reader's own thread */
    vp_aside threads[THREADS_MAX];
    size_t thread_n; /* without the reader's own */
    bool started, quit;
};

static size_t threads_wanted(const xs_reader *r)
{
    int64_t worth = r->w.size / BYTES_A_THREAD;
    int64_t n = r->opts ? r->opts->threads : 1;
    n = n < worth ? n : worth;
    return n > THREADS_MAX ? THREADS_MAX : n > 1 ? (size_t)n : 1;
}

int xs_workers_new(xs_workers **out, xs_reader *r)
{
    xs_workers *c = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    c->r = r;
    c->thread_n = threads_wanted(r) - 1;
    c->part_n = c->thread_n ? (c->thread_n + 1) * PARTS_A_THREAD : 1;
    c->parts = vp_calloc(c->part_n, sizeof *c->parts);
    c->state = vp_calloc(c->part_n, sizeof *c->state);
    if (!c->parts || !c->state || xw_init(&c->mine.window, r->w.source, XS_WALK_WINDOW) < 0) {
        vp_free(c->parts);
        vp_free(c->state);
        vp_free(c);
        return vp_no_memory();
    }
    c->budget = vp_mem_enter(NULL);
    vp_mem_enter(c->budget);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->done, NULL);
    xs_part_clear(&c->parts[0]);
    *out = c;
    return 0;
}

/* ---- The threads ---- */

static void tools_free(tools *t)
{
    xs_decoder_free(&t->decoder);
    xw_free(&t->window);
}

/* Decodes a waiting part, or else scans a section. false: there is neither. The caller holds the
 * lock, which is released meanwhile. */
static bool work_once(xs_workers *c, tools *t)
{
    work_state *state;
    if (c->next < c->last) {
        size_t i = (size_t)(c->next++ % c->part_n);
        *(state = &c->state[i]) = IN_HAND;
        pthread_mutex_unlock(&c->lock);
        xs_part_decode(&c->parts[i], &t->decoder, c->r);
    } else if (c->untouched < c->shown && c->untouched <= c->asked + c->thread_n + SECTIONS_AHEAD) {
        section *s = &c->sections[c->untouched++];
        *(state = &s->state) = IN_HAND;
        pthread_mutex_unlock(&c->lock);
        xs_section_walk(&s->s, &t->window);
    } else {
        return false;
    }
    pthread_mutex_lock(&c->lock);
    *state = DONE;
    pthread_cond_signal(&c->done);
    return true;
}

static int workers_help_thread(void *ctx)
{
    xs_workers *c = ctx;
    tools t = {0};
    vp_mem_budget *before = vp_mem_enter(c->budget);
    int rc = xw_init(&t.window, c->r->w.source, XS_WALK_WINDOW);
    pthread_mutex_lock(&c->lock);
    while (rc >= 0 && !c->quit)
        if (!work_once(c, &t))
            pthread_cond_wait(&c->work, &c->lock);
    pthread_mutex_unlock(&c->lock);
    tools_free(&t);
    vp_mem_enter(before);
    return 0;
}

/* If a thread cannot be started, the others do its work. */
static void workers_start_threads(xs_workers *c)
{
    if (c->started)
        return;
    c->started = true;
    for (size_t i = 0; i < c->thread_n; i++) {
        if (vp_aside_try(&c->threads[i], workers_help_thread, c) < 0)
            return;
    }
}

/* ---- The reader's own thread ---- */

/* Waits until the work is done. The caller holds the lock, which is released meanwhile. */
static void workers_wait_for(xs_workers *c, const work_state *state)
{
    while (*state != DONE)
        if (!work_once(c, &c->mine))
            pthread_cond_wait(&c->done, &c->lock);
}

/* Joins the first part after it is decoded. The caller holds the lock, which is released
 * meanwhile. */
static int join_first(xs_workers *c)
{
    size_t i = (size_t)(c->first % c->part_n);
    workers_wait_for(c, &c->state[i]);
    pthread_mutex_unlock(&c->lock);
    int rc = xs_part_join(c->r, &c->parts[i]);
    pthread_mutex_lock(&c->lock);
    c->state[i] = FREE;
    c->first++;
    return rc;
}

/* Number of sections of a line; 0 if it is too short to be divided. */
static size_t section_count(const xs_line *line)
{
    int64_t bytes = line->end - line->offset;
    return bytes < XS_SECTION_BYTES / 4
               ? 0
               : (size_t)((bytes + XS_SECTION_BYTES - 1) / XS_SECTION_BYTES);
}

/* The caller holds the lock. */
static int add_sections(xs_workers *c, const xs_line *line)
{
    size_t n = section_count(line);
    VP_TRY(vp_grow(&c->sections, &c->section_cap, c->section_n + n, sizeof *c->sections,
                   SIZE_MAX / 1024));
    for (size_t i = 0; i < n; i++) {
        xs_section s = {.from = line->offset + (int64_t)i * XS_SECTION_BYTES,
                        .to = line->end,
                        .line_end = line->end,
                        .first = !i};
        if (i + 1 < n)
            s.to = s.from + XS_SECTION_BYTES;
        c->sections[c->section_n++] = (section){s, WAITS};
    }
    return 0;
}

int xs_workers_plan(xs_workers *c, const xs_line *line)
{
    pthread_mutex_lock(&c->lock);
    int rc = add_sections(c, line);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static void show_sections(xs_workers *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->shown < c->section_n)
        pthread_cond_broadcast(&c->work);
    c->shown = c->section_n;
    pthread_mutex_unlock(&c->lock);
}

static int add_cuts(xs_workers *c, xs_lined *out, const xs_section *s)
{
    VP_TRY(vp_grow(&c->cuts, &c->cut_cap, c->cut_n + s->n, sizeof *c->cuts, SIZE_MAX / 32));
    for (size_t i = 0; i < s->n; i++)
        c->cuts[c->cut_n++] = (xs_cut){s->cuts[i].end, out->events + s->cuts[i].events};
    out->events += s->events;
    xs_head_add(&out->head, &s->head);
    out->damage = s->damaged ? s->end : -1;
    return 0;
}

/* Continues with the scanned section s, if the line was scanned up to *at. */
static int use_section(xs_workers *c, xs_lined *out, xs_section *s, int64_t *at)
{
    if (s->begin != *at)
        xs_section_walk_from(s, &c->mine.window, *at);
    if (s->status < 0)
        return vp_fail_copy(&s->error);
    *at = s->end;
    return add_cuts(c, out, s);
}

static int use_sections(xs_workers *c, xs_lined *out, const xs_line *line, size_t n)
{
    int rc = 0;
    int64_t at = line->offset;
    for (size_t i = 0; i < n; i++) {
        section *s = &c->sections[c->asked];
        pthread_mutex_lock(&c->lock);
        c->asked++;
        pthread_cond_signal(&c->work);
        workers_wait_for(c, &s->state);
        pthread_mutex_unlock(&c->lock);
        if (rc >= 0 && out->damage < 0 && at < line->end && (s->s.begin >= 0 || s->s.status < 0))
            rc = use_section(c, out, &s->s, &at);
        xs_section_free(&s->s);
    }
    return rc;
}

static int walk_now(xs_workers *c, xs_lined *out, const xs_line *line)
{
    xs_section s = {.from = line->offset, .to = line->end, .line_end = line->end, .first = true};
    int64_t at = line->offset;
    s.begin = -1;
    int rc = use_section(c, out, &s, &at);
    xs_section_free(&s);
    return rc;
}

int xs_workers_line(xs_workers *c, xs_lined *out, const xs_line *line)
{
    size_t n = section_count(line);
    *out = (xs_lined){.damage = -1};
    c->cut_n = 0;
    if (n > 1)
        workers_start_threads(c);
    show_sections(c);
    VP_TRY(n ? use_sections(c, out, line, n) : walk_now(c, out, line));
    out->cuts = c->cuts;
    out->n = c->cut_n;
    return 0;
}

/* Passes the filled part to the threads, and gets an empty one. */
static int workers_hand_over_part(xs_workers *c)
{
    int rc = 0;
    workers_start_threads(c);
    pthread_mutex_lock(&c->lock);
    c->state[c->last % c->part_n] = WAITS;
    c->last++;
    pthread_cond_signal(&c->work);
    while (rc >= 0 && c->first < c->last &&
           (c->last - c->first >= c->part_n || c->state[c->first % c->part_n] == DONE))
        rc = join_first(c);
    pthread_mutex_unlock(&c->lock);
    VP_TRY(rc);
    xs_part_clear(&c->parts[c->last % c->part_n]);
    return 0;
}

int xs_workers_add(xs_workers *c, const xs_run *run)
{
    xs_part *p = &c->parts[c->last % c->part_n];
    VP_TRY(xs_part_add(p, run));
    return xs_part_is_full(p) ? workers_hand_over_part(c) : 0;
}

int xs_workers_finish(xs_workers *c)
{
    int rc = c->parts[c->last % c->part_n].run_n ? workers_hand_over_part(c) : 0;
    pthread_mutex_lock(&c->lock);
    while (rc >= 0 && c->first < c->last)
        rc = join_first(c);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

void xs_workers_free(xs_workers *c)
{
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < c->thread_n; i++)
        vp_aside_wait(&c->threads[i]);
    for (size_t i = 0; i < c->part_n; i++)
        xs_part_free(&c->parts[i]);
    for (size_t i = 0; i < c->section_n; i++)
        xs_section_free(&c->sections[i].s);
    tools_free(&c->mine);
    vp_free(c->sections);
    vp_free(c->cuts);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    vp_free(c->parts);
    vp_free(c->state);
    vp_free(c);
}
