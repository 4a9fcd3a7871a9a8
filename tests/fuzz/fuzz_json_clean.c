/* Any bytes: neither the clean-up nor what is made for Perfetto depends on the chunks, what they
 * wrote the clean-up leaves alone, and a .pftrace is one of packets without more ends than begins.
 */
#include <stdint.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int clean(const void *p, size_t n, size_t chunk, char **out, size_t *out_n,
                 ex_clean_counts *counts)
{
    rd_stream *s = NULL;
    if (rd_stream_memory(&s, p, n, chunk) < 0 || ex_json_clean(&s, s) < 0)
        abort();
    int rc = rd_stream_slurp(s, (size_t)1 << 30, out, out_n);
    ex_json_clean_counts(s, counts);
    rd_stream_close(&s);
    return rc;
}

typedef struct input {
    const void *p;
    size_t n, chunk;
} input;

static int open_input(void *ctx, rd_stream **out)
{
    const input *in = ctx;
    return rd_stream_memory(out, in->p, in->n, in->chunk);
}

typedef int exporter(rd_stream **out, const ex_input *in, ex_pick *pick);

static int perfetto(exporter *make, input in, char **out, size_t *n)
{
    rd_stream *s = NULL;
    int rc = make(&s, &(ex_input){open_input, &in}, NULL);
    if (rc >= 0)
        rc = rd_stream_slurp(s, (size_t)1 << 30, out, n);
    rd_stream_close(&s);
    return rc;
}

static void check_perfetto(const void *p, size_t n)
{
    char *whole, *pieces, *again;
    size_t whole_n, pieces_n, again_n;
    ex_clean_counts c;
    int rc = perfetto(ex_json_whole, (input){p, n, 0}, &whole, &whole_n);
    if (rc < 0)
        return;
    if (perfetto(ex_json_whole, (input){p, n, 1 + n % 61}, &pieces, &pieces_n) < 0 ||
        whole_n != pieces_n || memcmp(whole, pieces, whole_n) != 0)
        abort();
    if (clean(whole, whole_n, 0, &again, &again_n, &c) < 0 || whole_n != again_n ||
        memcmp(whole, again, whole_n) != 0)
        abort();
    vp_free(whole);
    vp_free(pieces);
    vp_free(again);
}

/* Adds up begins (1) and ends (2) of slices of threads, which have no name where they end. */
static void check_event(vp_str text, int64_t *open)
{
    vp_pb r = vp_pb_of(text);
    vp_pb_field f;
    uint64_t type = 0;
    bool named = false;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        type = f.number == 9 ? f.u : type;
        named = named || f.number == 10 || f.number == 23;
    }
    *open += type == 1 ? 1 : type == 2 && !named ? -1 : 0;
    if (rc < 0 || *open < 0)
        abort();
}

static void check_packet(vp_str text, int64_t *open)
{
    vp_pb r = vp_pb_of(text);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == 8 && f.u > INT64_MAX)
            abort();
        if (f.number == 11)
            check_event(f.data, open);
    }
    if (rc < 0)
        abort();
}

static void check_pftrace(const void *p, size_t n)
{
    char *whole, *pieces;
    size_t whole_n, pieces_n;
    int64_t open = 0;
    if (perfetto(ex_pftrace_from_json, (input){p, n, 0}, &whole, &whole_n) < 0)
        return;
    if (perfetto(ex_pftrace_from_json, (input){p, n, 1 + n % 61}, &pieces, &pieces_n) < 0 ||
        whole_n != pieces_n || memcmp(whole, pieces, whole_n) != 0)
        abort();
    vp_pb r = vp_pb_of((vp_str){whole, whole_n});
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number != 1 || f.wire != VP_PB_LEN)
            abort();
        check_packet(f.data, &open);
    }
    if (rc < 0)
        abort();
    vp_free(whole);
    vp_free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *whole, *pieces, *again;
    size_t whole_n, pieces_n, again_n;
    ex_clean_counts c;
    if (clean(data, n, 0, &whole, &whole_n, &c) < 0)
        return 0;
    if (clean(data, n, 1 + n % 61, &pieces, &pieces_n, &c) < 0 || whole_n != pieces_n ||
        memcmp(whole, pieces, whole_n) != 0)
        abort();
    uint64_t events = c.events;
    if (clean(whole, whole_n, 0, &again, &again_n, &c) < 0 || whole_n != again_n ||
        memcmp(whole, again, whole_n) != 0)
        abort();
    if (c.events != events || c.empty || c.refused || c.keys || c.strings || c.numbers || c.commas)
        abort();
    vp_free(whole);
    vp_free(pieces);
    vp_free(again);
    check_perfetto(data, n);
    check_pftrace(data, n);
    return 0;
}
