/* Data that a program recorded with our recorder: arguments of zones, counters, metadata. Stats of
 * other profilers are their own figures, a dozen per event, and are not read. */
#include <stdio.h>

#include "trace/vpcap/vpcap_xspace.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/json/json_walk.h"
#include "trace/read/xspace/xs_read.h"

typedef struct said {
    vp_str name, text;
    double number;
    bool is_text, is_number;
} said;

static said read_said_stat(const xs_plane *pl, vp_str stat)
{
    vp_pb r = vp_pb_of(stat);
    vp_pb_field f;
    said s = {.name = VP_STR_NONE, .text = VP_STR_NONE};
    while (vp_pb_next(&r, &f) > 0) {
        bool text = f.wire == VP_PB_LEN;
        uint32_t i =
            f.number == XSTAT_METADATA_ID && !text ? vp_map_get(&pl->stat_by_id, f.u) : VP_MAP_NONE;
        if (i != VP_MAP_NONE)
            s.name = pl->stat_names[i];
        else if (f.number == XSTAT_STR_VALUE && text) {
            s.text = f.data;
            s.is_text = true;
        } else if (f.number >= XSTAT_DOUBLE_VALUE && f.number <= XSTAT_INT64_VALUE && !text) {
            s.is_number = true;
            if (f.number == XSTAT_DOUBLE_VALUE)
                memcpy(&s.number, &f.u, sizeof s.number);
            else
                s.number = f.number == XSTAT_UINT64_VALUE ? (double)f.u : (double)(int64_t)f.u;
        }
    }
    return s;
}

int xs_args(xs_line_ctx *c, uint32_t kind, vp_str event, int64_t start_ps)
{
    vp_pb r = vp_pb_of(event);
    vp_pb_field f;
    bool counter = c->role == SINK_ROLE_COUNTER;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number != XEVENT_STATS || f.wire != VP_PB_LEN)
            continue;
        said s = read_said_stat(c->plane, f.data);
        bool own = vx_is_own_stat(s.name), value = vp_str_eq(s.name, VP_STR(VX_COUNTER));
        if (!s.name.n || (!s.is_text && !s.is_number) || (counter ? !value : own))
            continue;
        sink_arg a = {kind, counter ? VP_STR_NONE : s.name, s.is_text, s.number, s.text, start_ps};
        VP_TRY(c->r->out->arg(c->r->out, &a));
    }
    return 0;
}

static int note_secret(xs_reader *r, vp_str key)
{
    char text[300];
    int n = snprintf(text, sizeof text,
                     "the recording contains a credential in \"%.*s\"; its value is not shown; do "
                     "not share the file as it is",
                     VP_STR_CUT(key, 100u));
    return r->out->quality(
        r->out, &(sink_quality){"credentials", SINK_WARNING, {text, (size_t)n}, -1, -1, false});
}

static int emit_fact(xs_reader *r, const said *s)
{
    char number[32];
    if (js_names_a_secret(s->name))
        return note_secret(r, s->name);
    vp_str value = s->text;
    if (!s->is_text)
        value = (vp_str){number, (size_t)snprintf(number, sizeof number, "%.17g", s->number)};
    return r->out->meta(r->out, s->name, value);
}

/* True for the times of the recording, which are its window. */
static bool is_time(vp_str name)
{
    return vp_str_ends(name, VP_STR("_time")) && vp_str_find(name, VP_STR("profile_")) == 0;
}

int xs_facts(xs_reader *r, const xs_plane *pl)
{
    vp_str all = {pl->bytes, pl->bytes_n};
    vp_pb_field f;
    for (int pass = 0; pass < 2 && (!pass || r->is_ours); pass++)
        for (vp_pb p = vp_pb_of(all); vp_pb_next(&p, &f) > 0;) {
            if (f.number != XPLANE_STATS || f.wire != VP_PB_LEN)
                continue;
            said s = read_said_stat(pl, f.data);
            if (!pass)
                r->is_ours = r->is_ours || (vp_str_eq(s.name, VP_STR("recorder")) &&
                                            vp_str_starts(s.text, VP_STR("view_profile ")));
            else if (s.name.n && !is_time(s.name) &&
                     !vp_str_eq(s.name, VP_STR("window_start_time")))
                VP_TRY(emit_fact(r, &s));
        }
    return 0;
}
