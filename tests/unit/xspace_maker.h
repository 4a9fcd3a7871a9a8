/* Makes XSpaces byte by byte for tests: planes with lines, events, metadata and stats. Field
 * numbers: docs/reference/xprof.md#xspace. Everything aborts the test on failure. */
#ifndef VP_TESTS_XSPACE_MAKER_H
#define VP_TESTS_XSPACE_MAKER_H

#include <stdint.h>

#include "trace/base/pb.h"

/* Appends `body` as field `number` of `to` and frees it. */
static inline void mk_nest(vp_buf *to, uint32_t number, vp_buf *body)
{
    vp_pb_put_len(to, number, vp_buf_view(body));
    vp_buf_free(body);
}

static inline vp_buf mk_new(void)
{
    vp_buf b;
    vp_buf_init(&b, (size_t)1 << 30);
    return b;
}

/* An XStat with a number (field 3 uint64, 4 int64, 7 ref) or text (5 str, 6 bytes). */
static inline void mk_stat_u(vp_buf *to, uint32_t field_of_stat, int64_t id, uint32_t value_field,
                             uint64_t u)
{
    vp_buf s = mk_new();
    vp_pb_put_u64(&s, 1, (uint64_t)id);
    vp_pb_put_u64(&s, value_field, u);
    mk_nest(to, field_of_stat, &s);
}

static inline void mk_stat_text(vp_buf *to, uint32_t field_of_stat, int64_t id,
                                uint32_t value_field, vp_str text)
{
    vp_buf s = mk_new();
    vp_pb_put_u64(&s, 1, (uint64_t)id);
    vp_pb_put_len(&s, value_field, text);
    mk_nest(to, field_of_stat, &s);
}

/* An XEvent; stats (a buffer of field-4 XStats) may be NULL and is freed. */
static inline void mk_event(vp_buf *line, int64_t metadata_id, int64_t offset_ps,
                            int64_t duration_ps, vp_buf *stats)
{
    vp_buf e = mk_new();
    vp_pb_put_u64(&e, 1, (uint64_t)metadata_id);
    vp_pb_put_u64(&e, 2, (uint64_t)offset_ps);
    vp_pb_put_u64(&e, 3, (uint64_t)duration_ps);
    if (stats) {
        vp_buf_str(&e, vp_buf_view(stats));
        vp_buf_free(stats);
    }
    mk_nest(line, 4, &e);
}

static inline vp_buf mk_line(int64_t id, const char *name, int64_t timestamp_ns)
{
    vp_buf l = mk_new();
    vp_pb_put_u64(&l, 1, (uint64_t)id);
    vp_pb_put_len(&l, 2, vp_str_of(name));
    if (timestamp_ns)
        vp_pb_put_u64(&l, 3, (uint64_t)timestamp_ns);
    return l;
}

static inline vp_buf mk_plane(int64_t id, const char *name)
{
    vp_buf p = mk_new();
    vp_pb_put_u64(&p, 1, (uint64_t)id);
    vp_pb_put_len(&p, 2, vp_str_of(name));
    return p;
}

/* event_metadata; display and stats (field-5 XStats, freed) may be NULL. */
static inline void mk_event_meta(vp_buf *plane, int64_t id, vp_str name, const char *display,
                                 vp_buf *stats)
{
    vp_buf m = mk_new(), entry = mk_new();
    vp_pb_put_u64(&m, 1, (uint64_t)id);
    vp_pb_put_len(&m, 2, name);
    if (display)
        vp_pb_put_len(&m, 4, vp_str_of(display));
    if (stats) {
        vp_buf_str(&m, vp_buf_view(stats));
        vp_buf_free(stats);
    }
    vp_pb_put_u64(&entry, 1, (uint64_t)id);
    mk_nest(&entry, 2, &m);
    mk_nest(plane, 4, &entry);
}

static inline void mk_stat_meta(vp_buf *plane, int64_t id, const char *name)
{
    vp_buf m = mk_new(), entry = mk_new();
    vp_pb_put_u64(&m, 1, (uint64_t)id);
    vp_pb_put_len(&m, 2, vp_str_of(name));
    vp_pb_put_u64(&entry, 1, (uint64_t)id);
    mk_nest(&entry, 2, &m);
    mk_nest(plane, 5, &entry);
}

#endif
