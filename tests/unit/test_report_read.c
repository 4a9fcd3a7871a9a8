/* Reports through JSON and back, and merged: reports of hosts are the report of the session, byte
 * for byte, on real runs of several hosts; hostile reports are refused with the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/traces.h"
#include "tests/unit/tree.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog.h"
#include "trace/report/report.h"

#define HOSTS_MAX 16

static char *as_json(const vp_report *r)
{
    vp_buf b;
    vp_buf_init(&b, 64u << 20);
    assert_int_equal(rep_json(&b, r, NULL), 0);
    return vp_buf_take(&b, NULL);
}

static void must_be_equal(const char *got, const char *want, const char *what)
{
    size_t at = 0;
    while (want[at] && got[at] == want[at])
        at++;
    if (got[at] != want[at])
        fail_msg("%s: at byte %zu \"%.120s\" instead of \"%.120s\"", what, at,
                 got + (at > 40 ? at - 40 : 0), want + (at > 40 ? at - 40 : 0));
}

static vp_report *read_back(const char *text)
{
    vp_report *r = NULL;
    if (rep_read(&r, vp_str_of(text)) < 0)
        fail_msg("%s", vp_error_last()->message);
    return r;
}

static vp_report *analyzed(const catalog *c, const cat_session *s, const char *host)
{
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    vp_report *r = NULL;
    opts.host = host;
    assert_int_equal(analyze_session(&r, c, s, &opts), 0);
    return r;
}

static vp_report *merged(const vp_report *const *parts, size_t n)
{
    vp_report *r = NULL;
    if (report_merge(&r, parts, n) < 0)
        fail_msg("%s", vp_error_last()->message);
    return r;
}

static catalog *opened(const char *dir, const char *path)
{
    char full[4096];
    catalog *c = NULL;
    snprintf(full, sizeof full, "%s/%s", dir, path);
    assert_int_equal(catalog_open(&c, full, NULL), 0);
    return c;
}

/* What is written, read and written again is the same. */
static void test_json_comes_back(void **state)
{
    (void)state;
    static const char *const files[] = {
        "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb",
        "jax_tpu/vllm-project__tpu-inference/profiles",
        "jax_cpu/three_runs",
        "jax_cpu/mnist_train",
        "jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb",
        "pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0",
        "chrome_odd/catapult-project__catapult/nestable_async.json",
    };
    const char *dir = traces_root();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        catalog *c = opened(dir, files[i]);
        vp_report *r = analyzed(c, catalog_latest(c), NULL);
        char *first = as_json(r);
        vp_report *back = read_back(first);
        char *second = as_json(back);
        must_be_equal(second, first, files[i]);
        /* A merge of one says the same, too. */
        vp_report *one = merged((const vp_report *const[]){back}, 1);
        char *third = as_json(one);
        must_be_equal(third, first, files[i]);
        vp_free(first);
        vp_free(second);
        vp_free(third);
        analyze_free(r);
        analyze_free(back);
        analyze_free(one);
        catalog_free(c);
    }
}

typedef struct parts {
    vp_report *read[HOSTS_MAX];
    size_t n;
} parts;

static void free_parts(parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        analyze_free(p->read[i]);
}

/* Reports of the hosts, analysed alone, each through JSON; merged in three orders, and in two
 * stages. */
static void check_hosts(const catalog *c, const cat_session *s, size_t least)
{
    parts p = {{0}, s->host_count};
    vp_report *whole = analyzed(c, s, NULL);
    char *want = as_json(whole);
    assert_true(s->host_count >= least && s->host_count <= HOSTS_MAX);
    for (size_t i = 0; i < p.n; i++) {
        vp_report *one = analyzed(c, s, s->hosts[i].name);
        char *text = as_json(one);
        p.read[i] = read_back(text);
        vp_free(text);
        analyze_free(one);
    }
    for (size_t turn = 0; turn < 3; turn++) {
        const vp_report *list[HOSTS_MAX];
        for (size_t i = 0; i < p.n; i++)
            list[i] = p.read[turn == 2 ? p.n - 1 - i : (i + turn) % p.n];
        vp_report *r = merged(list, p.n);
        char *got = as_json(r);
        must_be_equal(got, want, s->name);
        vp_free(got);
        analyze_free(r);
    }
    size_t half = p.n / 2;
    vp_report *left = merged((const vp_report *const *)p.read, half);
    vp_report *right = merged((const vp_report *const *)p.read + half, p.n - half);
    vp_report *both = merged((const vp_report *const[]){right, left}, 2);
    char *staged = as_json(both);
    must_be_equal(staged, want, "in two stages");
    vp_free(staged);
    analyze_free(left);
    analyze_free(right);
    analyze_free(both);
    vp_free(want);
    analyze_free(whole);
    free_parts(&p);
}

static void test_ranks_are_the_session(void **state)
{
    (void)state;
    const char *dir = traces_root();
    catalog *c = opened(dir, "archives/facebookresearch__param/dlrm_kineto.tar.gz");
    check_hosts(c, catalog_latest(c), 8);
    catalog_free(c);
}

static void copy_into(tree *t, const char *rel, const char *dir, const char *file)
{
    char from[4096], piece[65536];
    size_t n;
    snprintf(from, sizeof from, "%s/%s", dir, file);
    tree_dirs_for(t, rel);
    FILE *in = fopen(from, "rb"), *out = fopen(tree_at(t, rel), "wb");
    assert_true(in && out);
    while ((n = fread(piece, 1, sizeof piece, in)) > 0)
        assert_int_equal(fwrite(piece, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    fclose(in);
}

#define RUNS "jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/"
#define RUN "plugins/profile/2026_01_12_00_26_20/"

/* Two TPU runs of one model as the two hosts of a session; then the same two as sessions of their
 * own, whose reports differ from that in the session's identity only. */
static void test_two_tpu_runs_as_two_hosts(void **state)
{
    (void)state;
    const char *dir = traces_root();
    tree t;
    tree_make(&t);
    copy_into(&t, RUN "host-10.trace.json.gz", dir,
              RUNS "2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz");
    copy_into(&t, RUN "host-2.trace.json.gz", dir,
              RUNS "2026_01_12_00_26_20/t1v-n-9eb622fc-w-0.trace.json.gz");
    catalog *c = NULL;
    assert_int_equal(catalog_open(&c, t.root, NULL), 0);
    check_hosts(c, catalog_latest(c), 2);
    vp_report *whole = analyzed(c, catalog_latest(c), NULL);
    assert_string_equal(whole->hosts[0], "host-2"); /* as people count */
    char *want = as_json(whole);
    parts p = {{0}, 2};
    for (size_t i = 0; i < 2; i++) {
        catalog *alone = NULL;
        assert_int_equal(
            catalog_open(&alone,
                         tree_at(&t, i ? RUN "host-10.trace.json.gz" : RUN "host-2.trace.json.gz"),
                         NULL),
            0);
        p.read[i] = analyzed(alone, catalog_latest(alone), NULL);
        catalog_free(alone);
    }
    vp_report *r = merged((const vp_report *const *)p.read, 2);
    char *got = as_json(r);
    must_be_equal(strstr(got, "\"findings\":"), strstr(want, "\"findings\":"), "findings");
    *strstr(got, "\"quality\":") = *strstr(want, "\"quality\":") = 0; /* names the files */
    must_be_equal(strstr(got, "\"devices\":"), strstr(want, "\"devices\":"), "two sessions");
    vp_free(want);
    vp_free(got);
    analyze_free(whole);
    analyze_free(r);
    free_parts(&p);
    catalog_free(c);
    tree_remove(&t);
}

/* ---- Refusals ---- */

static int merge_two(const char *a, const char *b)
{
    vp_report *x = read_back(a), *y = read_back(b), *r = NULL;
    int rc = report_merge(&r, (const vp_report *const[]){x, y}, 2);
    assert_null(r);
    analyze_free(x);
    analyze_free(y);
    return rc;
}

#define BREAKDOWN                                                                                  \
    "\"breakdown\":{\"window_ps\":10,\"compute_ps\":4,\"exposed_comm_ps\":3,"                      \
    "\"exposed_copy_ps\":2,\"idle_ps\":1}"
#define REPORT_OF(group, rest)                                                                     \
    "{\"schema\":\"view_profile.report/1\",\"session\":{\"id\":\"s\",\"hosts\":[\"h\"],\"files\":" \
    "[]},\"analysis\":{\"group\":\"" group "\",\"events\":3},\"complete\":true,\"devices\":["      \
    "{\"name\":\"d\",\"host\":\"h\"," BREAKDOWN "}]" rest "}"
#define REPORT(rest) REPORT_OF("name", rest)

static void test_what_cannot_be_merged(void **state)
{
    (void)state;
    vp_report *r = NULL;
    assert_int_equal(report_merge(&r, NULL, 0), VP_EARG);
    assert_int_equal(merge_two(REPORT(""), REPORT("")), VP_EARG);
    assert_non_null(strstr(vp_error_last()->message, "same run on host h"));
    assert_int_equal(merge_two(REPORT(""), REPORT_OF("scope", "")), VP_EARG);
}

static void test_hostile_reports(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        const char *says;
    } cases[] = {
        {"", VP_ECORRUPT, "invalid JSON"},
        {"[]", VP_EUNSUPPORTED, "not a view_profile report"},
        {"{\"schema\":\"view_profile.list/1\"}", VP_EUNSUPPORTED, "view_profile.list/1"},
        {"{\"schema\":\"view_profile.report/1\",\"complete\":false}", VP_EUNSUPPORTED,
         "an incomplete report"},
        {REPORT("") "x", VP_ECORRUPT, "invalid JSON"},
        {"{\"a\":1,\"a\":2}", VP_ECORRUPT, "invalid JSON"},
        {REPORT(",\"ops\":{}"), VP_ECORRUPT, "ops is not an array"},
        {REPORT(",\"ops\":[7]"), VP_ECORRUPT, "ops[0] is not an object"},
        {REPORT(",\"ops\":[{\"device_index\":0,\"calls\":\"many\"}]"), VP_ECORRUPT,
         "ops[0].calls is not an integer"},
        {REPORT(",\"ops\":[{\"device_index\":0,\"calls\":-1}]"), VP_ECORRUPT,
         "ops[0].calls is out of range"},
        {REPORT(",\"ops\":[{\"device_index\":0,\"self_ps\":9223372036854775807}]"), VP_ECORRUPT,
         "ops[0].self_ps is out of range"},
        {REPORT(",\"ops\":[{\"device_index\":0,\"self_ps\":1.5}]"), VP_ECORRUPT,
         "is not an integer"},
        {REPORT(",\"ops\":[{\"device_index\":1}]"), VP_ECORRUPT, "a device that does not exist"},
        {REPORT(",\"ops\":[{}]"), VP_ECORRUPT, "ops[0] refers to no device"},
        {REPORT(",\"ops\":[{\"device_index\":0,\"class\":\"copying\"}]"), VP_ECORRUPT,
         "ops[0].class is not one of the allowed values"},
        {REPORT(",\"gaps\":[{\"device_index\":-1}]"), VP_ECORRUPT, "out of range"},
        {REPORT(",\"collectives\":[{\"device_index\":0,\"sample_start_ps\":[1,2],"
                "\"sample_dur_ps\":[1]}]"),
         VP_ECORRUPT, "sample_dur_ps has a different length"},
        {REPORT(",\"modules\":[{\"program_id\":18446744073709551616}]"), VP_ECORRUPT,
         "invalid JSON"},
        {REPORT(",\"modules\":[{\"program_id\":-2}]"), VP_ECORRUPT, "program_id"},
        {REPORT(",\"steps\":{\"list\":[{\"devices\":[{\"device_index\":0,"
                "\"breakdown\":{\"window_ps\":1}}]}]}"),
         VP_ECORRUPT, "do not add up"},
        {REPORT(",\"ops\":[{\"device_index\":0,\"self_ps\":2000000000000000000},"
                "{\"device_index\":0,\"self_ps\":2000000000000000000}]"),
         VP_ECORRUPT, "ops[1].self_ps is out of range when added"},
        {REPORT(",\"scopes\":[{\"path\":\"a\",\"self_ps\":1,\"total_ps\":3}]"), VP_ECORRUPT,
         "not the sum of its parts"},
        {REPORT(",\"scopes\":[{\"path\":\"a\",\"total_ps\":3,\"children\":["
                "{\"path\":\"a/b\",\"total_ps\":4,\"self_ps\":4}]}]"),
         VP_ECORRUPT, "is larger than its parent"},
        {REPORT(",\"quality\":[{\"message\":[]}]"), VP_ECORRUPT,
         "quality[0].message is not a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vp_report *r = NULL;
        assert_int_equal(rep_read(&r, vp_str_of(cases[i].text)), cases[i].code);
        assert_null(r);
        if (!strstr(vp_error_last()->message, cases[i].says))
            fail_msg("case %zu: %s", i, vp_error_last()->message);
    }
}

static void test_wide_program_ids(void **state)
{
    (void)state;
    vp_report *r = read_back(REPORT(",\"modules\":[{\"name\":\"\\\"18446744073709551615\","
                                    "\"program_id\":18446744073709551614,\"runs\":1}]"));
    assert_int_equal(r->modules[0].program_id, -2);
    assert_string_equal(r->modules[0].name, "\"18446744073709551615");
    char *text = as_json(r);
    assert_non_null(strstr(text, "\"program_id\":18446744073709551614"));
    vp_free(text);
    analyze_free(r);
}

/* No writer leaves a path out; a page that names the files is made all the same. */
static void test_files_without_a_path(void **state)
{
    (void)state;
    vp_buf b;
    vp_report *r = read_back("{\"schema\":\"view_profile.report/1\",\"session\":{\"files\":["
                             "{\"kind\":\"xplane\"},{\"path\":null}]},\"complete\":true}");
    assert_int_equal(r->file_count, 2);
    assert_string_equal(r->files[0].path, "");
    assert_string_equal(r->files[1].path, "");
    vp_buf_init(&b, 1u << 20);
    assert_int_equal(rep_html(&b, r, NULL, NULL), 0);
    vp_buf_free(&b);
    analyze_free(r);
}

static void test_deep_scopes_are_refused(void **state)
{
    (void)state;
    char text[40000] = "{\"schema\":\"view_profile.report/1\",\"complete\":true,\"scopes\":";
    vp_report *r = NULL;
    size_t n = strlen(text);
    for (int i = 0; i < 400; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "[{\"path\":\"p\",\"children\":");
    for (int i = 0; i < 400; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s}]", i ? "" : "[]");
    snprintf(text + n, sizeof text - n, "}");
    assert_int_equal(rep_read(&r, vp_str_of(text)), VP_ECORRUPT);
    assert_non_null(strstr(vp_error_last()->message, "deep"));
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] = REPORT(
        ",\"ops\":[{\"device_index\":0,\"name\":\"dot\",\"calls\":1,\"self_ps\":9}],"
        "\"scopes\":[{\"path\":\"a\",\"name\":\"a\",\"self_ps\":9,\"total_ps\":9,\"calls\":1}],"
        "\"modules\":[{\"name\":\"m\",\"runs\":2,\"samples_ps\":[3,4]}]");
    uint64_t used, k = 0;
    do {
        vp_report *r = NULL, *all = NULL;
        vp_mem_fail_at(++k, false);
        int rc = rep_read(&r, VP_STR(text));
        if (rc >= 0)
            rc = report_merge(&all, (const vp_report *const[]){r}, 1);
        used = vp_mem_fail_at(0, false);
        assert_int_equal(rc, used >= k ? VP_ENOMEM : 0);
        analyze_free(r);
        analyze_free(all);
    } while (used >= k);
    assert_true(k > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_comes_back),
        cmocka_unit_test(test_ranks_are_the_session),
        cmocka_unit_test(test_two_tpu_runs_as_two_hosts),
        cmocka_unit_test(test_what_cannot_be_merged),
        cmocka_unit_test(test_hostile_reports),
        cmocka_unit_test(test_wide_program_ids),
        cmocka_unit_test(test_files_without_a_path),
        cmocka_unit_test(test_deep_scopes_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
