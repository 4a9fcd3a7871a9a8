/* A recording whose process was killed: listed as unfinished, read as what it would have become,
 * and never a crash however it is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/recorded.h"
#include "tests/unit/tree.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/capture/pool/recorder.h"
#include "trace/model/trace.h"
#include "trace/read/vpcap/vpcap_reader.h"
#include "trace/read/xspace/xspace.h"

#define RUN "plugins/profile/2026_11_22_00_00_00"

static int set_up(void **state)
{
    static tree t;
    tree_make(&t);
    *state = &t;
    return 0;
}

static int tear_down(void **state)
{
    tree_remove(*state);
    return 0;
}

/* Records in a child until it is killed in the middle of two zones. */
static void record_and_die(const char *dir)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        vp_recording *r;
        vp_config cfg = VP_CONFIG_INIT;
        cfg.dir = dir;
        cfg.host = "box";
        cfg.pool_bytes = 4u << 20;
        if (vp_start(&r, &cfg) < 0)
            _exit(1);
        for (int i = 0; i < 5; i++) {
            VP_STEP("train", i);
            VP_SCOPE("forward");
        }
        VP_SCOPE("outer");
        VP_SCOPE("inner");
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static const vp_quality *quality_with(const vp_report *r, const char *code, const char *words)
{
    for (size_t i = 0; i < r->quality_count; i++)
        if (strcmp(r->quality[i].code, code) == 0 && strstr(r->quality[i].message, words))
            return &r->quality[i];
    return NULL;
}

static const vp_op *op_named(const vp_report *r, const char *name)
{
    for (size_t i = 0; i < r->op_count; i++)
        if (strcmp(r->ops[i].name, name) == 0)
            return &r->ops[i];
    return NULL;
}

static void a_killed_program_leaves_a_session(void **state)
{
    tree *t = *state;
    catalog *c;
    vp_report *report;
    cat_options opts = CAT_OPTIONS_INIT;
    vp_report_options how = VP_REPORT_OPTIONS_INIT;
    record_and_die(tree_at(t, "killed"));
    assert_int_equal(catalog_open(&c, tree_at(t, "killed"), &opts), 0);
    assert_int_equal(catalog_count(c), 1);
    const cat_session *s = catalog_get(c, 0);
    assert_int_equal(s->status, CAT_UNFINISHED);
    assert_int_equal(s->host_count, 1);
    assert_string_equal(s->hosts[0].name, "box");
    assert_ptr_equal(catalog_latest(c), s);
    how.depth = VP_DEPTH_FULL;
    assert_int_equal(analyze_session(&report, c, s, &how), 0);
    assert_int_equal(op_named(report, "forward")->calls, 5);
    assert_int_equal(op_named(report, "outer")->calls, 1);
    assert_int_equal(op_named(report, "inner")->calls, 1);
    assert_int_equal(report->steps.count, 5);
    assert_non_null(quality_with(report, "unfinished", "killed"));
    assert_non_null(quality_with(report, "unfinished", "2 zones had not ended"));
    analyze_free(report);
    catalog_free(c);
}

static trace *read_with(int (*read)(sink *, rd_source *, const rd_options *), const void *p,
                        size_t n)
{
    trace *t;
    rd_source *in;
    rd_options opts = {0};
    assert_int_equal(rd_source_memory(&in, p, n), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(read(&t->sink, in, &opts), 0);
    assert_int_equal(trace_seal(t), 0);
    rd_source_close(in);
    return t;
}

/* The same image read as a recording, and as the XSpace that the recorder makes of it. */
static void it_is_read_as_what_it_would_have_become(void **state)
{
    tree *t = *state;
    recorded r;
    uint64_t bytes;
    char *xplane = NULL;
    size_t n = 0;
    assert_int_equal(rec_make(&r, tree_at(t, "made"), VP_OUT_XPLANE), 0);
    tree_dir(t, "again");
    int fd = open(tree_at(t, "again"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(cap_write(&bytes, fd, r.v, NULL, VP_OUT_XPLANE), 0);
    close(fd);
    assert_int_equal(rec_slurp(tree_at(t, "again/box.xplane.pb"), &xplane, &n), 0);
    assert_int_equal(bytes, n);
    trace *a = read_with(vr_read, r.image, r.n), *b = read_with(xs_read, xplane, n);
    assert_int_equal(a->event_count, b->event_count);
    assert_int_equal(a->track_count, b->track_count);
    for (uint32_t i = 0; i < a->track_count; i++) {
        const trace_track *x = &a->tracks[i], *y = &b->tracks[i];
        assert_int_equal(x->count, y->count);
        for (size_t e = 0; e < x->count; e++) {
            assert_int_equal(trace_start(x, e), trace_start(y, e));
            assert_int_equal(trace_dur(x, e), trace_dur(y, e));
        }
    }
    trace_free(a);
    trace_free(b);
    free(xplane);
    rec_free(&r);
}

/* Every cut and flipped byte is an error or a trace, never a crash; the sanitizers watch. */
static void damage_is_survived(void **state)
{
    tree *t = *state;
    recorded r;
    uint64_t seed = 7;
    rd_options opts = {0};
    size_t read = 0;
    assert_int_equal(rec_make(&r, tree_at(t, "damage"), VP_OUT_XPLANE), 0);
    char *copy = malloc(r.n);
    for (int i = 0; i < 60; i++) {
        rd_source *in;
        trace *tr;
        memcpy(copy, r.image, r.n);
        for (int k = 0; k < 1 + i / 6; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            size_t at = (seed >> 20) % (i % 2 ? 4096 : r.n);
            copy[at] = (char)(seed >> 56);
        }
        size_t n = i % 3 ? r.n : (seed >> 30) % r.n;
        assert_int_equal(rd_source_memory(&in, copy, n), 0);
        assert_int_equal(trace_new(&tr), 0);
        read += vr_read(&tr->sink, in, &opts) == 0 && trace_seal(tr) == 0;
        trace_free(tr);
        rd_source_close(in);
    }
    assert_true(read > 0);
    free(copy);
    rec_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_program_leaves_a_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_read_as_what_it_would_have_become, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_survived, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
