/* The .pftraces of all hosts, one after another, then notes on their clocks. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/hosts.h"
#include "trace/export/pftrace/pft_writer.h"
#include "trace/export/shared/stream_out.h"

typedef struct merged {
    rd_stream s; /* first member */
    ex_hosts *hosts;
    pft_whole whole;
    pft_host host; /* the open host */
    rd_stream *open;
    size_t next; /* next host to open; count: only notes are left */
    size_t note; /* to be written */
    vp_buf out;
    pft_writer notes;
} merged;

/* ---- Notes ---------------------------------------------------------------------------------- */

/* The root track, followed by those of the hosts; the hosts' own ids are never as small. */
enum { TRACK_CLOCKS = 1 };
enum { NAME_OFFSET = 1, NAME_ERROR, NAME_CALLS };

static int put_clock_group(merged *m)
{
    return pft_put_track(&m->notes, &(pft_track){.uuid = TRACK_CLOCKS,
                                                 .name = VP_STR("Host clocks"),
                                                 .kind = PFT_PLAIN,
                                                 .ordered = true});
}

static void put_clock_args(pft_writer *w, const host_clock *c)
{
    static const char *const names[] = {
        [NAME_OFFSET] = "offset_ps", [NAME_ERROR] = "error_ps", [NAME_CALLS] = "collectives"};
    if (c->how != HOST_CLOCK_COLLECTIVES)
        return;
    for (uint64_t i = NAME_OFFSET; i <= NAME_CALLS; i++)
        pft_tell(w, PFT_ARG_NAME, i, vp_str_of(names[i]));
    pft_arg_int(w, NAME_OFFSET, c->offset_ps);
    pft_arg_int(w, NAME_ERROR, c->error_ps);
    pft_arg_int(w, NAME_CALLS, c->calls);
}

/* The start of the host, even if it is missing. */
static int64_t host_begin_ps(const ex_host *h)
{
    int64_t at;
    if (h->clock.how == HOST_CLOCK_UNPLACED ||
        __builtin_add_overflow(h->clock.zero_ns, h->clock.shift_ns, &at) || at < 0)
        return 0;
    return at;
}

static int put_host_clock_note(merged *m, const ex_host *h, int32_t rank)
{
    VP_CLEANUP(vp_buf_free) vp_buf text;
    pft_writer *w = &m->notes;
    uint64_t track = TRACK_CLOCKS + 1 + (uint64_t)rank;
    int64_t at = host_begin_ps(h);
    vp_buf_init(&text, 64u << 10);
    VP_TRY(pft_put_track(w, &(pft_track){.uuid = track,
                                         .parent = TRACK_CLOCKS,
                                         .name = vp_str_of(h->name),
                                         .kind = PFT_PLAIN,
                                         .rank = rank,
                                         .apart = true}));
    w->sequence = m->whole.sequences++;
    VP_TRY(pft_begin_sequence(w, track, at));
    vp_buf_printf(&text, "%s: ", h->name);
    if (h->left_out.code)
        vp_buf_printf(&text, "skipped: %s", h->left_out.message);
    else
        ex_put_clock(&text, &h->clock);
    pft_instant(w, track);
    pft_event_text(w, vp_buf_view(&text));
    if (!h->left_out.code)
        put_clock_args(w, &h->clock);
    if (text.status < 0)
        return vp_buf_fail(&m->out, text.status);
    return pft_put_event(w, at);
}

static int put_clock_notes(merged *m, char **p, size_t *n)
{
    ex_out_reset(&m->out);
    if (!m->note && m->hosts->count)
        VP_TRY(put_clock_group(m));
    for (; m->note < m->hosts->count && !ex_out_full(&m->out); m->note++)
        VP_TRY(put_host_clock_note(m, &m->hosts->hosts[m->note], (int32_t)m->note));
    m->s.raw_done = m->s.raw_total;
    return ex_out_chunk(&m->out, p, n);
}

/* ---- The stream ----------------------------------------------------------------------------- */

static int open_next(merged *m)
{
    ex_host *h = &m->hosts->hosts[m->next++];
    m->host = (pft_host){.whole = &m->whole,
                         .number = (uint32_t)m->next,
                         .name = vp_str_of(h->name),
                         .shift_ns = h->clock.shift_ns,
                         .pick = &m->hosts->pick};
    int rc = ex_hosts_open(&m->open, h, m->hosts, EX_PFTRACE, &m->host);
    if (rc <= 0)
        m->open = NULL;
    return rc;
}

static int merged_next(rd_stream *s, char **p, size_t *n)
{
    merged *m = (merged *)(void *)s;
    for (;;) {
        if (!m->open && m->next == m->hosts->count)
            return put_clock_notes(m, p, n);
        if (!m->open) {
            VP_TRY(open_next(m));
            continue;
        }
        ex_host *h = &m->hosts->hosts[m->next - 1];
        int rc = m->open->next(m->open, p, n);
        if (rc > 0) /* otherwise parts of two files would be mixed */
            VP_TRY(catalog_check(m->hosts->c, h->file));
        if (rc)
            return rc;
        m->s.raw_done += h->file->bytes;
        VP_TRY(ex_hosts_close(&m->open, h, m->hosts));
    }
}

static void merged_close(rd_stream *s)
{
    merged *m = (merged *)(void *)s;
    rd_stream_close(&m->open);
    pft_free(&m->notes);
    pft_whole_free(&m->whole);
    vp_buf_free(&m->out);
    vp_free(m);
}

int ex_pftrace_merged(rd_stream **out, ex_hosts *h)
{
    merged *m = vp_calloc(1, sizeof *m);
    VP_NEED(m);
    m->s = (rd_stream){
        .next = merged_next, .close = merged_close, .total = -1, .raw_total = ex_hosts_bytes(h)};
    m->hosts = h;
    pft_whole_init(&m->whole);
    pft_init(&m->notes, &m->out, NULL);
    int rc = ex_out_init(&m->out);
    if (rc < 0)
        merged_close(&m->s);
    else
        *out = &m->s;
    return rc;
}
