/* trace/read/pickle: by hand what no pickler writes, in windows of every size, and without memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "include/view_profile_status.h"
#include "trace/base/mem.h"
#include "trace/read/pickle/torch_snapshot.h"

typedef struct heard {
    int64_t blocks, segments, entries, notes, bytes;
    uint32_t device;
    ts_site site;
} heard;

static int on_block(void *ctx, const ts_block *b)
{
    heard *h = ctx;
    h->blocks++;
    h->bytes += b->requested;
    return 0;
}

static int on_segment(void *ctx, const ts_segment *s)
{
    heard *h = ctx;
    h->segments++;
    h->bytes += s->total;
    return 0;
}

static int on_entry(void *ctx, const ts_entry *e)
{
    heard *h = ctx;
    h->entries++;
    h->bytes += e->size;
    h->device = e->device;
    h->site = e->site ? e->site : h->site;
    return 0;
}

static int on_note(void *ctx, const ts_note *n)
{
    heard *h = ctx;
    h->notes += n->start;
    return 0;
}

static int read_bytes(heard *h, vp_str bytes, size_t window)
{
    const ts_sink sink = {h, on_block, on_segment, on_entry, on_note};
    ts_snapshot *s;
    rd_stream *in;
    *h = (heard){0};
    assert_int_equal(rd_stream_memory(&in, bytes.p, bytes.n, window), 0);
    int rc = ts_read(&s, in, &sink);
    rd_stream_close(&in);
    if (rc >= 0)
        ts_free(s);
    return rc;
}

/* {'device_traces': [[], [{'action': 'alloc', 'size': 5, 'addr': 9, 'frames': [F, F]},
 *                         {'size': 7, 'frames': the same, 'action': 'free_requested'}]],
 *  'segments': [{'device': 1, 'total_size': 64, 'blocks': [{'size': 3, 'state': 'inactive'}]}]}
 * with F = {'name': 'f', 'filename': 'a.py', 'line': 2}; frames stand in the memo. */
static const char whole[] =
    "\x80\x02}q\0(X\x0d\0\0\0device_traces](](}(X\6\0\0\0actionX\5\0\0\0allocX\4\0\0\0sizeK\5"
    "X\4\0\0\0addrK\x09X\6\0\0\0frames]q\1(}q\2(X\4\0\0\0nameX\1\0\0\0fX\x08\0\0\0filename"
    "X\4\0\0\0a.pyX\4\0\0\0lineK\2uh\2eu}(X\4\0\0\0sizeK\7X\6\0\0\0framesh\1X\6\0\0\0action"
    "X\x0e\0\0\0free_requestedueeX\x08\0\0\0segments]}(X\6\0\0\0deviceK\1X\x0a\0\0\0total_size"
    "K\x40X\6\0\0\0blocks]}(X\4\0\0\0sizeK\3X\5\0\0\0stateX\x08\0\0\0inactiveuauau.";

static void windows_of_any_size_say_the_same(void **state)
{
    vp_str bytes = {whole, sizeof whole - 1};
    (void)state;
    assert_true(ts_is(bytes));
    for (size_t window = 0; window < 40; window++) {
        heard h;
        assert_int_equal(read_bytes(&h, bytes, window), 0);
        assert_int_equal(h.entries, 2);
        assert_int_equal(h.blocks, 1);
        assert_int_equal(h.segments, 1);
        assert_int_equal(h.bytes, 5 + 7 + 64 + 3);
        assert_int_equal(h.site, 1);
    }
}

static void every_cut_is_survived(void **state)
{
    heard h;
    (void)state;
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        int rc = read_bytes(&h, (vp_str){whole, n}, 16);
        assert_true(rc == 0 || rc == VP_ECORRUPT || rc == VP_EUNSUPPORTED);
        assert_true((rc == 0) == (h.entries + h.blocks + h.segments > 0));
    }
}

static void every_byte_may_be_another(void **state)
{
    char bad[sizeof whole];
    heard h;
    (void)state;
    for (size_t n = 3; n < sizeof whole - 1; n++)
        for (unsigned c = 0; c < 256; c += 5) {
            memcpy(bad, whole, sizeof whole);
            bad[n] = (char)c;
            int rc = read_bytes(&h, (vp_str){bad, sizeof whole - 1}, 0);
            assert_true(rc == 0 || rc == VP_ECORRUPT || rc == VP_EUNSUPPORTED || rc == VP_ELIMIT);
        }
}

static void memory_failures_are_clean(void **state)
{
    bool done = false;
    heard h;
    (void)state;
    for (uint64_t k = 2; !done; k++) { /* the first is the stream's */
        vp_mem_fail_at(k, true);
        const ts_sink sink = {&h, on_block, on_segment, on_entry, on_note};
        ts_snapshot *s = NULL;
        rd_stream *in;
        if (rd_stream_memory(&in, whole, sizeof whole - 1, 0) < 0)
            continue;
        int rc = ts_read(&s, in, &sink);
        vp_mem_fail_at(0, false);
        rd_stream_close(&in);
        done = rc == 0;
        assert_true(done || rc == VP_ENOMEM);
        ts_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_any_size_say_the_same),
        cmocka_unit_test(every_cut_is_survived),
        cmocka_unit_test(every_byte_may_be_another),
        cmocka_unit_test(memory_failures_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
