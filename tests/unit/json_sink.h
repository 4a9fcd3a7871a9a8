/* A sink for tests of the JSON reader: writes all calls as lines of text, so that two readings can
 * be compared byte by byte, and stores the events for detailed tests. */
#ifndef VP_TESTS_JSON_SINK_H
#define VP_TESTS_JSON_SINK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/json/chrome_json.h"

typedef struct rec_track {
    uint32_t process;
    char *name;
    int64_t id;
    sink_role role;
    bool one_timeline;
} rec_track;

typedef struct rec_process {
    char *name, *model;
    int64_t id;
    sink_process_kind kind;
    int32_t ordinal;
} rec_process;

typedef struct rec_kind {
    sink_kind k; /* strings are copies */
} rec_kind;

typedef struct rec_quality {
    const char *code;
    sink_severity severity;
    char *message;
    int64_t event, byte;
    bool partial;
} rec_quality;

typedef struct rec {
    sink s;
    rec_process *processes;
    rec_track *tracks;
    rec_kind *kinds;
    sink_event *events;
    rec_quality *quality;
    size_t process_n, track_n, kind_n, event_n, event_cap, quality_n;
    uint64_t skipped;
    bool has_base;
    int64_t base_ns;
} rec;

static char *rec_copy(vp_str s)
{
    char *p = malloc(s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

static vp_str rec_str(vp_str s)
{
    return (vp_str){rec_copy(s), s.n};
}

#define REC_PUSH(array, count)                                                                     \
    (array = realloc(array, (count + 1) * sizeof *array), &array[count++])

static int rec_on_process(sink *s, const sink_process *p, uint32_t *id)
{
    rec *r = (rec *)s;
    *id = (uint32_t)r->process_n;
    *REC_PUSH(r->processes, r->process_n) =
        (rec_process){rec_copy(p->name), rec_copy(p->model), p->id, p->kind, p->ordinal};
    return 0;
}

static int rec_on_process_update(sink *s, uint32_t id, const sink_process *p)
{
    rec_process *old = &((rec *)s)->processes[id];
    old->kind = p->kind;
    old->ordinal = p->ordinal;
    old->id = p->id;
    if (p->model.n) {
        free(old->model);
        old->model = rec_copy(p->model);
    }
    if (p->name.n) {
        free(old->name);
        old->name = rec_copy(p->name);
    }
    return 0;
}

static int rec_on_track(sink *s, const sink_track *t, uint32_t *id)
{
    rec *r = (rec *)s;
    *id = (uint32_t)r->track_n;
    *REC_PUSH(r->tracks, r->track_n) =
        (rec_track){t->process, rec_copy(t->name), t->id, t->role, t->one_timeline};
    return 0;
}

static int rec_on_track_update(sink *s, uint32_t id, const sink_track *t)
{
    rec_track *old = &((rec *)s)->tracks[id];
    old->process = t->process;
    old->role = t->role;
    old->id = t->id;
    old->one_timeline = t->one_timeline;
    if (t->name.n) {
        free(old->name);
        old->name = rec_copy(t->name);
    }
    return 0;
}

static int rec_on_kind(sink *s, const sink_kind *k, uint32_t *id)
{
    rec *r = (rec *)s;
    sink_kind c = *k;
    vp_str *strings[] = {&c.name,   &c.long_name, &c.category, &c.opcode, &c.hlo_op,
                         &c.module, &c.scope,     &c.source,   &c.shape,  &c.stream_label};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = rec_str(*strings[i]);
    *id = (uint32_t)r->kind_n;
    REC_PUSH(r->kinds, r->kind_n)->k = c;
    return 0;
}

static int rec_on_events(sink *s, const sink_event *e, size_t n)
{
    rec *r = (rec *)s;
    if (r->event_n + n > r->event_cap) {
        r->event_cap = 2 * (r->event_n + n);
        r->events = realloc(r->events, r->event_cap * sizeof *e);
    }
    memcpy(r->events + r->event_n, e, n * sizeof *e);
    r->event_n += n;
    return 0;
}

static void rec_on_skipped(sink *s, uint64_t n)
{
    ((rec *)s)->skipped += n;
}

static int rec_on_quality(sink *s, const sink_quality *q)
{
    rec *r = (rec *)s;
    *REC_PUSH(r->quality, r->quality_n) =
        (rec_quality){q->code, q->severity, rec_copy(q->message), q->event, q->byte, q->partial};
    return 0;
}

static void rec_on_base(sink *s, int64_t ns)
{
    ((rec *)s)->has_base = true;
    ((rec *)s)->base_ns = ns;
}

static void rec_on_capture(sink *s, int64_t a, int64_t b)
{
    (void)s, (void)a, (void)b;
}

static int rec_on_arg(sink *s, const sink_arg *a)
{
    (void)s, (void)a;
    return 0;
}

static int rec_on_meta(sink *s, vp_str key, vp_str value)
{
    (void)s, (void)key, (void)value;
    return 0;
}

static rec *rec_new(void)
{
    rec *r = calloc(1, sizeof *r);
    r->s = (sink){.process = rec_on_process,
                  .track = rec_on_track,
                  .track_update = rec_on_track_update,
                  .process_update = rec_on_process_update,
                  .kind = rec_on_kind,
                  .events = rec_on_events,
                  .skipped = rec_on_skipped,
                  .quality = rec_on_quality,
                  .base = rec_on_base,
                  .capture = rec_on_capture,
                  .arg = rec_on_arg,
                  .meta = rec_on_meta};
    return r;
}

static void rec_free(rec *r)
{
    for (size_t i = 0; i < r->process_n; i++) {
        free(r->processes[i].name);
        free(r->processes[i].model);
    }
    for (size_t i = 0; i < r->track_n; i++)
        free(r->tracks[i].name);
    for (size_t i = 0; i < r->quality_n; i++)
        free(r->quality[i].message);
    for (size_t i = 0; i < r->kind_n; i++) {
        const sink_kind *k = &r->kinds[i].k;
        const vp_str *strings[] = {&k->name,   &k->long_name,   &k->category, &k->opcode,
                                   &k->hlo_op, &k->module,      &k->scope,    &k->source,
                                   &k->shape,  &k->stream_label};
        for (size_t j = 0; j < sizeof strings / sizeof *strings; j++)
            free((char *)(uintptr_t)strings[j]->p);
    }
    free(r->processes);
    free(r->tracks);
    free(r->kinds);
    free(r->events);
    free(r->quality);
    free(r);
}

#endif
