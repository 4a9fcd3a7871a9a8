/* Any bytes as an XSpace: the JSON made of it is one that the clean-up finds nothing to mend in,
 * and the .pftrace is one of packets whose every event ends and whose clocks never step back. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int slurp(rd_stream *s, char **out, size_t *n)
{
    return rd_stream_slurp(s, (size_t)1 << 30, out, n);
}

/* Adds up begins (1) and ends (2) of a packet's event. */
static void check_packet(vp_str packet, int64_t *open)
{
    vp_pb r = vp_pb_of(packet), event;
    vp_pb_field f, of;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == 8 && f.u > INT64_MAX)
            abort();
        if (f.number != 11)
            continue;
        event = vp_pb_of(f.data);
        while ((rc = vp_pb_next(&event, &of)) > 0)
            if (of.number == 9)
                *open += of.u == 1 ? 1 : of.u == 2 ? -1 : 0;
        if (rc < 0 || *open < 0)
            abort();
    }
    if (rc < 0)
        abort();
}

static void check_pftrace(const uint8_t *data, size_t n)
{
    rd_source *in;
    rd_stream *s = NULL;
    char *made;
    size_t made_n;
    int64_t open = 0;
    int rc;
    if (rd_source_memory(&in, data, n) < 0)
        abort();
    if (ex_pftrace_from_xspace(&s, in, NULL) < 0)
        return;
    if (slurp(s, &made, &made_n) < 0)
        abort();
    vp_pb r = vp_pb_of((vp_str){made, made_n});
    vp_pb_field f;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number != 1 || f.wire != VP_PB_LEN)
            abort();
        check_packet(f.data, &open);
    }
    if (rc < 0 || open)
        abort();
    rd_stream_close(&s);
    vp_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    rd_source *in;
    rd_stream *s = NULL;
    char *made, *cleaned;
    size_t made_n, cleaned_n;
    ex_clean_counts c;
    if (rd_source_memory(&in, data, n) < 0)
        abort();
    if (ex_json_from_xspace(&s, in, NULL) < 0)
        return 0;
    if (slurp(s, &made, &made_n) < 0)
        abort();
    rd_stream_close(&s);
    if (rd_stream_memory(&s, made, made_n, 0) < 0 || ex_json_clean(&s, s) < 0 ||
        slurp(s, &cleaned, &cleaned_n) < 0)
        abort();
    ex_json_clean_counts(s, &c);
    if (s->damage.code || c.empty || c.refused || c.keys || c.strings || c.numbers || c.commas)
        abort();
    if (made_n != cleaned_n || memcmp(made, cleaned, made_n) != 0)
        abort();
    rd_stream_close(&s);
    vp_free(made);
    vp_free(cleaned);
    check_pftrace(data, n);
    return 0;
}
