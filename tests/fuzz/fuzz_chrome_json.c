/* Any bytes: no crash, no hang, and the same result whatever the chunks are, and however many
 * threads read them. The first byte says how the rest is cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/str.h"
#include "trace/read/json/chrome_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A digest of all that the sink is told; it checks what every sink may rely on. */
typedef struct digest {
    sink s;
    uint32_t processes, tracks, kinds;
    uint64_t hash;
} digest;

static void add(digest *d, const void *p, size_t n)
{
    d->hash = vp_fingerprint(p, n, d->hash);
}

static void add_str(digest *d, vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    add(d, s.p ? s.p : "", s.n);
    for (size_t i = 0, len; i < s.n; i += len) {
        len = vp_utf8_len(p + i, s.n - i);
        if (!len)
            abort(); /* all text is valid UTF-8 */
    }
}

static void add_int(digest *d, int64_t v)
{
    add(d, &v, sizeof v);
}

static int on_process(sink *s, const sink_process *p, uint32_t *id)
{
    digest *d = (digest *)s;
    add_str(d, p->name);
    add_int(d, p->id);
    *id = d->processes++;
    return 0;
}

static int on_process_update(sink *s, uint32_t id, const sink_process *p)
{
    digest *d = (digest *)s;
    if (id >= d->processes)
        abort();
    add_str(d, p->name);
    return 0;
}

static int on_track(sink *s, const sink_track *t, uint32_t *id)
{
    digest *d = (digest *)s;
    if (t->process >= d->processes)
        abort();
    add_str(d, t->name);
    add_int(d, t->role);
    *id = d->tracks++;
    return 0;
}

static int on_track_update(sink *s, uint32_t id, const sink_track *t)
{
    digest *d = (digest *)s;
    if (id >= d->tracks || t->process >= d->processes)
        abort();
    add_str(d, t->name);
    add_int(d, t->role);
    return 0;
}

static int on_kind(sink *s, const sink_kind *k, uint32_t *id)
{
    digest *d = (digest *)s;
    const vp_str strings[] = {k->name,   k->long_name, k->category, k->opcode, k->hlo_op,
                              k->module, k->scope,     k->source,   k->shape,  k->stream_label};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        add_str(d, strings[i]);
    add_int(d, k->bytes);
    add_int(d, k->flops);
    *id = d->kinds++;
    return 0;
}

static int on_events(sink *s, const sink_event *e, size_t n)
{
    digest *d = (digest *)s;
    for (size_t i = 0; i < n; i++) {
        if (e[i].track >= d->tracks || e[i].kind >= d->kinds)
            abort();
        if (e[i].dur_ps < 0 || e[i].start_ps > INT64_MAX - e[i].dur_ps)
            abort();
        add_int(d, e[i].start_ps);
        add_int(d, e[i].dur_ps);
        add_int(d, e[i].track);
        add_int(d, e[i].kind);
    }
    return 0;
}

static void on_skipped(sink *s, uint64_t n)
{
    add_int((digest *)s, (int64_t)n);
}

static int on_quality(sink *s, const sink_quality *q)
{
    digest *d = (digest *)s;
    add_str(d, q->message);
    add_int(d, q->event);
    add_int(d, q->byte);
    return 0;
}

static void on_base(sink *s, int64_t ns)
{
    add_int((digest *)s, ns);
}

static uint64_t read_all(const uint8_t *data, size_t n, size_t chunk, bool device_only, int threads)
{
    digest d = {.s = {.process = on_process,
                      .process_update = on_process_update,
                      .track = on_track,
                      .track_update = on_track_update,
                      .kind = on_kind,
                      .events = on_events,
                      .skipped = on_skipped,
                      .quality = on_quality,
                      .base = on_base}};
    const rd_options opts = {.device_only = device_only, .threads = threads};
    rd_stream *in;
    if (rd_stream_memory(&in, data, n, chunk) < 0)
        abort();
    in->raw_total = INT64_MAX; /* worth threads, however short it is */
    int rc = cj_read(&d.s, in, &opts);
    if (rc < 0 && rc != VP_ECORRUPT && rc != VP_EEMPTY)
        abort();
    add_int(&d, rc);
    rd_stream_close(&in);
    return d.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    size_t chunk = 1 + *data % 64u;
    bool device_only = *data & 0x80;
    data++, n--;
    uint64_t whole = read_all(data, n, 0, device_only, 1);
    if (read_all(data, n, chunk, device_only, 1) != whole ||
        read_all(data, n, chunk, device_only, 2) != whole)
        abort();
    return 0;
}
