/* Writes the analysis tracks after the events, as Trace Event JSON. */
#include "trace/base/err.h"
#include "trace/export/shared/added.h"
#include "trace/export/shared/quote.h"
#include "trace/export/shared/stream_out.h"
#include "trace/export/shared/times.h"

/* The importer treats a thread with its process's number as a different one
 * (docs/reference/perfetto.md#event-fields). */
static uint32_t tid_of(const ex_added *a)
{
    uint32_t tid = (uint32_t)(a->track - a->group_track) + 1;
    return tid + (tid >= a->group_pid[a->tracks->tracks[a->track].group]);
}

/* Constants whose length the compiler knows. */
#define PUT(b, text) vp_buf_put(b, text, sizeof text - 1)

/* Another argument's name. */
static void put_arg_key(vp_buf *b, const char *name)
{
    PUT(b, ",\"");
    vp_buf_puts(b, name);
    PUT(b, "\":");
}

static void put_event_separator(vp_buf *b, bool *any)
{
    vp_buf_puts(b, *any ? ",\n" : "");
    *any = true;
}

static int put_track_metadata(const ex_added *a, vp_buf *b, bool *any)
{
    const derived_track *t = &a->tracks->tracks[a->track];
    uint32_t pid = a->group_pid[t->group], tid = tid_of(a);
    if (ex_added_first_of_group(a)) {
        VP_CLEANUP(vp_buf_free) vp_buf name;
        vp_buf_init(&name, VP_JSON_EVENT_MAX);
        VP_TRY(derived_group_name(&name, a->tracks, &a->tracks->groups[t->group]));
        put_event_separator(b, any);
        vp_buf_printf(
            b, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":", pid);
        ex_quote(b, vp_buf_view(&name));
        vp_buf_puts(b, "}}");
    }
    put_event_separator(b, any);
    vp_buf_printf(
        b, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", pid,
        tid);
    ex_quote(b, derived_text(a->tracks, t->name));
    vp_buf_printf(b,
                  "}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%u,"
                  "\"args\":{\"sort_index\":%u}}",
                  pid, tid, tid);
    return b->status;
}

static int put_slice_event(const ex_added *a, vp_buf *b, bool *any, size_t track,
                           const ex_added_slice *s, uint32_t tid)
{
    const derived_track *t = &a->tracks->tracks[track];
    const derived_kind_row *k = &derived_kinds[t->kind];
    put_event_separator(b, any);
    PUT(b, "{\"ph\":\"X\",\"pid\":");
    vp_buf_u64(b, a->group_pid[t->group]);
    PUT(b, ",\"tid\":");
    vp_buf_u64(b, tid);
    PUT(b, ",\"ts\":");
    ex_put_us(b, s->start_ns);
    PUT(b, ",\"dur\":");
    ex_put_us(b, s->end_ns - s->start_ns);
    PUT(b, ",\"name\":");
    ex_quote(b, derived_text(a->tracks, s->from->name));
    PUT(b, ",\"args\":{\"duration_ps\":");
    vp_buf_i64(b, s->from->end_ps - s->from->start_ps);
    for (size_t i = 0; i < DERIVED_NUMBERS; i++) {
        if (!k->number[i] || s->from->number[i] == DERIVED_UNKNOWN)
            continue;
        put_arg_key(b, k->number[i]);
        vp_buf_i64(b, s->from->number[i]);
    }
    for (size_t i = 0; i < DERIVED_TEXTS; i++) {
        if (!k->text[i] || !s->from->text[i])
            continue;
        put_arg_key(b, k->text[i]);
        ex_quote(b, derived_text(a->tracks, s->from->text[i]));
    }
    return vp_buf_puts(b, "}}");
}

int ex_added_json(ex_added *a, vp_buf *out, bool *any)
{
    ex_added_slice s;
    while (a->track < a->tracks->track_count && !ex_out_full(out)) {
        size_t track = a->track;
        if (!a->told)
            VP_TRY(put_track_metadata(a, out, any));
        a->told = true;
        uint32_t tid = tid_of(a);
        int rc;
        while ((rc = ex_added_next(a, &s)) > 0) {
            VP_TRY(put_slice_event(a, out, any, track, &s, tid));
            if (ex_out_full(out))
                return 1;
        }
        VP_TRY(rc);
    }
    return a->track < a->tracks->track_count;
}
