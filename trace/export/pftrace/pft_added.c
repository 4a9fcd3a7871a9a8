#include "trace/export/pftrace/pft_added.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/stream_out.h"

/* Names of arguments by id, in every sequence. */
enum { ARG_DURATION = 1, ARG_NUMBER, ARG_TEXT = ARG_NUMBER + DERIVED_NUMBERS };

static uint64_t group_uuid(uint32_t group)
{
    return PFT_TRACK_ADDED + 2 * (uint64_t)group;
}

static uint64_t track_uuid(size_t track)
{
    return PFT_TRACK_ADDED + 2 * (uint64_t)track + 1;
}

static int put_added_group(const ex_added *a, pft_writer *w, uint32_t group)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, VP_JSON_EVENT_MAX);
    VP_TRY(derived_group_name(&name, a->tracks, &a->tracks->groups[group]));
    return pft_put_track(w, &(pft_track){.uuid = group_uuid(group),
                                         .name = vp_buf_view(&name),
                                         .kind = PFT_PLAIN,
                                         .rank = (int32_t)group,
                                         .ordered = true,
                                         .apart = true});
}

static int put_added_track(const ex_added *a, pft_writer *w)
{
    const derived_track *t = &a->tracks->tracks[a->track];
    if (ex_added_first_of_group(a))
        VP_TRY(put_added_group(a, w, t->group));
    return pft_put_track(w, &(pft_track){.uuid = track_uuid(a->track),
                                         .parent = group_uuid(t->group),
                                         .name = derived_text(a->tracks, t->name),
                                         .kind = PFT_PLAIN,
                                         .rank = (int32_t)a->track,
                                         .apart = true});
}

static void tell_names(pft_writer *w, const derived_kind_row *k)
{
    pft_tell(w, PFT_ARG_NAME, ARG_DURATION, VP_STR("duration_ps"));
    for (unsigned i = 0; i < DERIVED_NUMBERS; i++)
        if (k->number[i])
            pft_tell(w, PFT_ARG_NAME, ARG_NUMBER + i, vp_str_of(k->number[i]));
    for (unsigned i = 0; i < DERIVED_TEXTS; i++)
        if (k->text[i])
            pft_tell(w, PFT_ARG_NAME, ARG_TEXT + i, vp_str_of(k->text[i]));
}

/* The id of a text, which is interned once per sequence. */
static uint64_t added_text_number(ex_added *a, pft_writer *w, pft_name_kind kind, vp_sid text)
{
    uint32_t *told = &a->named[2 * (size_t)text + (kind == PFT_ARG_TEXT)];
    if (*told != w->sequence)
        pft_tell(w, kind, (uint64_t)text + 1, derived_text(a->tracks, text));
    *told = w->sequence;
    return (uint64_t)text + 1;
}

static int put_added_slice(ex_added *a, pft_writer *w, size_t track, const ex_added_slice *s,
                           bool first)
{
    const derived_kind_row *k = &derived_kinds[a->tracks->tracks[track].kind];
    pft_slice_begin(w, track_uuid(track));
    if (first)
        tell_names(w, k);
    if (s->from->name)
        pft_event_name(w, added_text_number(a, w, PFT_EVENT_NAME, s->from->name));
    else
        pft_event_text(w, VP_STR(""));
    pft_arg_int(w, ARG_DURATION, s->from->end_ps - s->from->start_ps);
    for (unsigned i = 0; i < DERIVED_NUMBERS; i++)
        if (k->number[i] && s->from->number[i] != DERIVED_UNKNOWN)
            pft_arg_int(w, ARG_NUMBER + i, s->from->number[i]);
    for (unsigned i = 0; i < DERIVED_TEXTS; i++)
        if (k->text[i] && s->from->text[i])
            pft_arg_known(w, ARG_TEXT + i, added_text_number(a, w, PFT_ARG_TEXT, s->from->text[i]));
    return pft_put_event(w, s->start_ns);
}

/* Writes slices of the current track until the chunk is full: 1; 0: the track is finished. */
static int continue_added_track(ex_added *a, pft_writer *w, pft_ends *open)
{
    size_t track = a->track;
    ex_added_slice s;
    int rc;
    while ((rc = ex_added_next(a, &s)) > 0) {
        bool first = !a->told;
        if (first) /* not before a slice is in the window */
            VP_TRY(pft_begin_sequence(w, track_uuid(track), s.start_ns > 0 ? s.start_ns : 0));
        a->told = true;
        VP_TRY(pft_ends_until(open, w, s.start_ns));
        VP_TRY(put_added_slice(a, w, track, &s, first));
        VP_TRY(pft_ends_add(open, s.end_ns, track_uuid(track)));
        if (ex_out_full(w->out))
            return 1;
    }
    VP_TRY(rc);
    return pft_ends_until(open, w, INT64_MAX);
}

int pft_added(ex_added *a, pft_writer *w, pft_ends *open)
{
    if (!a->named)
        a->named = vp_calloc(2 * ((size_t)a->tracks->names.count + 1), sizeof *a->named);
    VP_NEED(a->named);
    while (a->track < a->tracks->track_count && !ex_out_full(w->out)) {
        if (!a->slice)
            VP_TRY(put_added_track(a, w));
        int rc = continue_added_track(a, w, open);
        if (rc)
            return rc;
    }
    return a->track < a->tracks->track_count;
}
