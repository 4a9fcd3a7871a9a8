/* Which sessions a tree of files is, how they are named, ordered and found. */
#include "tests/unit/tree.h"

#include <time.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

#define S INT64_C(1000000000)
#define RUN1 "2026_01_11_21_26_41" /* 1768166801 in UTC */
#define RUN2 "2026_01_12_00_26_20"
#define NO_FILE UINT32_MAX

static const char chrome[] =
    "{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]}";

static int setup(void **state)
{
    tree *t = calloc(1, sizeof *t);
    tree_make(t);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    tree_remove(*state);
    free(*state);
    return 0;
}

static catalog *list(tree *t, const char *rel)
{
    catalog *c = NULL;
    int rc = catalog_open(&c, tree_at(t, rel), NULL);
    if (rc)
        fail_msg("%s: %s", t->path, vp_error_last()->message);
    return c;
}

/* The sessions' names in order, joined by spaces. */
static void expect_names(const catalog *c, const char *want)
{
    char got[4096] = "";
    for (size_t i = 0; i < catalog_count(c); i++) {
        const char *name = catalog_get(c, i)->name;
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "", name);
    }
    assert_string_equal(got, want);
}

/* "worker0+" is a host with both halves. */
static void expect_hosts(const cat_session *s, const char *want)
{
    char got[4096] = "";
    for (size_t i = 0; i < s->host_count; i++) {
        const cat_host *h = &s->hosts[i];
        assert_int_equal(s->files[h->primary].host, i);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s%s", i ? " " : "", h->name,
                 h->secondary == NO_FILE ? "" : "+");
    }
    assert_string_equal(got, want);
}

static void expect_note(const catalog *c, const char *path, const char *why)
{
    for (size_t i = 0; i < catalog_note_count(c); i++)
        if (!strcmp(catalog_note(c, i)->path, path) && strstr(catalog_note(c, i)->why, why))
            return;
    fail_msg("no note says of %s: %s", path, why);
}

static void every_level_shows_the_same_run(void **state)
{
    tree *t = *state;
    static const struct {
        const char *level, *name, *path;
    } levels[] = {
        {"", "logs/" RUN1, "logs/plugins/profile/" RUN1},
        {"logs", RUN1, "plugins/profile/" RUN1},
        {"logs/plugins", RUN1, "profile/" RUN1},
        {"logs/plugins/profile", RUN1, RUN1},
        {"logs/plugins/profile/" RUN1, RUN1, "."},
        {"logs/plugins/profile/" RUN1 "/vm.xplane.pb", RUN1, "."},
    };
    tree_file(t, "logs/plugins/profile/" RUN1 "/vm.xplane.pb", 1000);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        catalog *c = list(t, levels[i].level);
        expect_names(c, levels[i].name);
        const cat_session *s = catalog_get(c, 0);
        assert_string_equal(s->path, levels[i].path);
        assert_string_equal(s->kind, "xla");
        assert_int_equal(s->captured_unix_ns, 1768166801 * S);
        assert_true(s->time_from_name);
        assert_false(s->stray);
        assert_int_equal(s->bytes, 256);
        expect_hosts(s, "vm");
        catalog_free(c);
    }
}

static void nested_tensorboard_runs_keep_their_names(void **state)
{
    tree *t = *state;
    tree_file(t, "train/plugins/profile/" RUN1 "/a.xplane.pb", 1000);
    tree_file(t, "exp/eval/plugins/profile/" RUN2 "/a.xplane.pb", 1000);
    catalog *c = list(t, "");
    expect_names(c, "exp/eval/" RUN2 " train/" RUN1);
    assert_string_equal(catalog_get(c, 0)->id, "exp-eval-" RUN2);
    catalog_free(c);
}

static void both_halves_are_one_host(void **state)
{
    tree *t = *state;
    tree_file(t, "plugins/profile/a/w10.xplane.pb", 1000);
    tree_file(t, "plugins/profile/a/w10.trace.json.gz", 1000);
    tree_file(t, "plugins/profile/a/w2.xplane.pb", 1000);
    tree_file(t, "plugins/profile/a/json_only.trace.json.gz", 1000);
    tree_file(t, "plugins/profile/b/127.0.0.1_9012.xplane.pb", 900);
    tree_file(t, "plugins/profile/b/remote.trace.json.gz", 900);
    tree_file(t, "plugins/profile/c/vm.xplane.pb", 800);
    tree_file(t, "plugins/profile/c/vm.trace.json.gz", 800);
    tree_file(t, "plugins/profile/c/perfetto_trace.json.gz", 800);
    tree_file(t, "plugins/profile/d/remote.trace.json.gz", 700);
    tree_file(t, "plugins/profile/e/perfetto_trace.json.gz", 600);
    tree_file(t, "plugins/profile/f/vm.trace.json.gz", 500);
    tree_file(t, "plugins/profile/f/perfetto_trace.json.gz", 500);
    catalog *c = list(t, "");
    expect_names(c, "a b c d e f");
    expect_hosts(catalog_get(c, 0), "json_only w2 w10+");
    expect_hosts(catalog_get(c, 1), "127.0.0.1_9012+");
    expect_hosts(catalog_get(c, 2), "vm+");
    expect_hosts(catalog_get(c, 3), "d");
    expect_hosts(catalog_get(c, 4), "e");
    expect_hosts(catalog_get(c, 5), "vm");
    const cat_session *s = catalog_get(c, 2);
    assert_int_equal(s->file_count, 3);
    assert_string_equal(s->files[s->hosts[0].primary].name, "vm.xplane.pb");
    assert_string_equal(s->files[s->hosts[0].secondary].name, "vm.trace.json.gz");
    assert_string_equal(s->files[0].name, "perfetto_trace.json.gz");
    assert_int_equal(s->files[0].host, 0);
    catalog_free(c);
}

/* With this key all texts of two bytes have one hash (hash.h: a product with 0). */
static void hosts_of_one_hash_stay_apart(void **state)
{
    tree *t = *state;
    uint64_t key = vp_hash_key[2];
    for (int i = 1; i <= 12; i++) { /* more than are compared one by one */
        char name[64];
        snprintf(name, sizeof name, "plugins/profile/a/%c%d.xplane.pb", i < 4 ? 'w' : 'a', i);
        tree_file(t, name, 1000);
        snprintf(name, sizeof name, "plugins/profile/a/%c%d.trace.json", i < 4 ? 'w' : 'a', i);
        tree_file(t, name, 1000);
    }
    vp_hash_key[2] = 2;
    assert_int_equal(vp_hash("w1", 2, 0), vp_hash("w2", 2, 0));
    catalog *c = list(t, "");
    vp_hash_key[2] = key;
    expect_hosts(catalog_get(c, 0), "a4+ a5+ a6+ a7+ a8+ a9+ a10+ a11+ a12+ w1+ w2+ w3+");
    catalog_free(c);
}

/* In a run any producer's JSON is the run's; what is no JSON is not, whatever it is called. */
static void names_do_not_make_json(void **state)
{
    tree *t = *state;
    tree_text(t, "plugins/profile/a/vm.trace.json",
              "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":[]}", 1000);
    tree_text(t, "plugins/profile/b/vm.trace.json", "\x0a\x0d\x12\x0b/host:CPU..", 900);
    catalog *c = list(t, "");
    expect_names(c, "a b");
    assert_int_equal(catalog_get(c, 0)->files[0].kind.format, RD_XLA_JSON);
    assert_int_equal(catalog_get(c, 1)->files[0].kind.format, RD_XSPACE);
    catalog_free(c);
}

static void caches_are_ignored_and_states_are_told(void **state)
{
    tree *t = *state;
    static const unsigned char pprof[] = {0x0a, 4, 8, 1, 16, 2, 0x12, 0};
    tree_file(t, "plugins/profile/full/vm.xplane.pb", 1000);
    tree_file(t, "plugins/profile/full/vm.SSTABLE", 1000);
    tree_file(t, "plugins/profile/full/jit_f(2).hlo_proto.pb", 1000);
    tree_file(t, "plugins/profile/full/.cached_tools.json", 1000);
    tree_file(t, "plugins/profile/cached/ALL_HOSTS.op_stats_v2.pb", 1000);
    tree_dir(t, "plugins/profile/empty");
    tree_file(t, "plugins/profile/old/local.trace", 900);
    tree_file(t, "plugins/profile/torn/vm.xplane.pb", 800);
    tree_text(t, "plugins/profile/torn/vm.xplane.pb", "", 800);
    tree_text(t, "plugins/profile/crashed/job.vpcap", "VPCAP\r\n\x1a", 700);
    tree_bytes(t, "plugins/profile/mem/memory.prof", pprof, sizeof pprof, 600);
    catalog *c = list(t, "");
    expect_names(c, "full old torn crashed mem empty cached");
    const cat_session *s = catalog_get(c, 0);
    assert_int_equal(s->status, CAT_OK);
    assert_int_equal(s->file_count, 1);
    assert_null(s->why);
    assert_int_equal(catalog_get(c, 1)->status, CAT_UNREADABLE);
    assert_non_null(strstr(catalog_get(c, 1)->why, "TensorFlow"));
    assert_int_equal(catalog_get(c, 2)->status, CAT_UNREADABLE);
    assert_non_null(strstr(catalog_get(c, 2)->why, "empty"));
    s = catalog_get(c, 3);
    assert_int_equal(s->status, CAT_UNFINISHED);
    assert_non_null(strstr(s->why, "killed"));
    assert_int_equal(s->host_count, 1);
    assert_string_equal(s->hosts[0].name, "job");
    s = catalog_get(c, 4);
    assert_int_equal(s->status, CAT_OK);
    assert_string_equal(s->kind, "memory");
    assert_int_equal(s->host_count, 0);
    assert_int_equal(catalog_get(c, 5)->status, CAT_EMPTY);
    assert_int_equal(catalog_get(c, 6)->status, CAT_EMPTY);
    assert_non_null(strstr(catalog_get(c, 6)->why, "caches"));
    assert_ptr_equal(catalog_latest(c), catalog_get(c, 0));
    catalog_free(c);
}

/* What a host's files were made from is no host of its own, and no reason to call the run
 * unfinished; another host's is. */
static void recordings_stand_for_hosts_without_files(void **state)
{
    static const char vpcap[] = "VPCAP\r\n\x1a";
    tree *t = *state;
    tree_file(t, "plugins/profile/both/a.xplane.pb", 1000);
    tree_text(t, "plugins/profile/both/a.vpcap", vpcap, 1000);
    tree_text(t, "plugins/profile/both/b.vpcap", vpcap, 1000);
    tree_text(t, "plugins/profile/old/b.vpcap", vpcap, 900);
    catalog *c = list(t, "");
    const cat_session *s = catalog_get(c, 0);
    assert_int_equal(s->status, CAT_OK);
    assert_int_equal(s->host_count, 2);
    assert_string_equal(s->files[s->hosts[0].primary].name, "a.xplane.pb");
    assert_int_equal(s->hosts[0].secondary, UINT32_MAX);
    assert_string_equal(s->files[s->hosts[1].primary].name, "b.vpcap");
    assert_int_equal(catalog_get(c, 1)->status, CAT_UNFINISHED);
    assert_ptr_equal(catalog_latest(c), s);
    catalog_free(c);
    assert_int_equal(unlink(tree_at(t, "plugins/profile/both/a.xplane.pb")), 0);
    c = list(t, "");
    assert_int_equal(catalog_get(c, 0)->status, CAT_UNFINISHED);
    assert_ptr_equal(catalog_latest(c), catalog_get(c, 0)); /* nothing else is there */
    catalog_free(c);
}

static void loose_files_are_strays_and_xplanes_make_their_directory_a_run(void **state)
{
    tree *t = *state;
    tree_text(t, "loose/one.json", chrome, 5000);
    tree_text(t, "loose/two.json", chrome, 4000);
    tree_text(t, "loose/notes.json", "{\"a\": 1}", 4000);
    tree_text(t, "loose/capture.rpd", "SQLite format 3", 4000);
    tree_file(t, "jax08_gemm/tw003.xplane.pb", 1000);
    tree_text(t, "jax08_gemm/extra.json", chrome, 9000);
    catalog *c = list(t, "");
    expect_names(c, "jax08_gemm/extra.json loose/one.json loose/two.json jax08_gemm");
    assert_true(
        catalog_get(c, 3)->stray); /* nothing says that it is a run: no name, no plugins/profile */
    assert_false(catalog_get(c, 3)->time_from_name);
    assert_int_equal(catalog_get(c, 3)->captured_unix_ns, 1000 * S);
    assert_true(catalog_get(c, 0)->stray);
    assert_string_equal(catalog_get(c, 1)->path, "loose/one.json");
    expect_hosts(catalog_get(c, 1), "one.json");
    assert_int_equal(catalog_note_count(c), 1);
    expect_note(c, "loose/capture.rpd", "rocm");
    assert_ptr_equal(catalog_latest(c), catalog_get(c, 0));
    catalog_free(c);

    c = list(t, "jax08_gemm/extra.json");
    expect_names(c, "extra.json");
    catalog_free(c);
    c = list(t, "loose/capture.rpd");
    assert_int_equal(catalog_get(c, 0)->status, CAT_UNREADABLE);
    assert_null(catalog_latest(c));
    assert_non_null(strstr(vp_error_last()->message, "rocm"));
    catalog_free(c);
}

static void workers_of_ten_seconds_are_one_capture(void **state)
{
    tree *t = *state;
    tree_file(t, "d/worker0.1700000000000.pt.trace.json", 1);
    tree_file(t, "d/worker1.1700000009000.pt.trace.json.gz", 1);
    tree_file(t, "d/worker10.1700000001000.pt.trace.json", 1);
    tree_file(t, "d/worker2.1700000010001.pt.trace.json", 1); /* 10 s and 1 ms: the next */
    tree_file(t, "e/w_1.1700000000000000000.pt.trace.json", 1);
    tree_file(t, "e/w_1.1700000000500000000.pt.trace.json", 1); /* the same worker again */
    tree_file(t, "f/worker0.pt.trace.json", 2);                 /* no time: stray */
    catalog *c = list(t, "");
    expect_names(c, "d/1700000010001 e/1700000000500000000 e/1700000000000000000 d/1700000000000 "
                    "f/worker0.pt.trace.json");
    const cat_session *s = catalog_get(c, 3);
    expect_hosts(s, "worker0 worker1 worker10");
    assert_string_equal(s->kind, "kineto");
    assert_string_equal(s->path, "d");
    assert_int_equal(s->captured_unix_ns, 1700000000 * S);
    assert_true(s->time_from_name);
    assert_string_equal(catalog_get(c, 0)->path, "d/worker2.1700000010001.pt.trace.json");
    assert_true(catalog_get(c, 4)->stray);
    expect_hosts(catalog_get(c, 4), "worker0");
    catalog_free(c);
}

static void newest_comes_first_and_strays_last(void **state)
{
    tree *t = *state;
    tree_file(t, "plugins/profile/" RUN1 "/a.xplane.pb", 1);
    tree_file(t, "x/plugins/profile/" RUN1 "/a.xplane.pb", 2);
    tree_file(t, "y/plugins/profile/" RUN1 "/a.xplane.pb", 2);
    tree_file(t, "plugins/profile/" RUN2 "/a.xplane.pb", 1);
    tree_file(t, "plugins/profile/unnamed/a.xplane.pb", 1768166802); /* a second after RUN1 */
    tree_text(t, "new.json", chrome, 4000000000);
    catalog *c = list(t, "");
    expect_names(c, RUN2 " unnamed y/" RUN1 " x/" RUN1 " " RUN1 " new.json");
    catalog_free(c);
}

static void ids_are_unique_safe_and_functions_of_the_name(void **state)
{
    tree *t = *state;
    tree_file(t, "a/b/vm.xplane.pb", 1);
    tree_file(t, "a-b/vm.xplane.pb", 1);
    tree_file(t, "sp ace/vm.xplane.pb", 1);
    tree_file(t, "sp+ace/vm.xplane.pb", 1);
    catalog *c = list(t, "");
    char ids[4][128];
    assert_int_equal(catalog_count(c), 4);
    for (size_t i = 0; i < 4; i++) {
        const cat_session *s = catalog_get(c, i);
        assert_true(strspn(s->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._~-") == strlen(s->id));
        assert_ptr_equal(catalog_find(c, vp_str_of(s->id)), s);
        snprintf(ids[i], sizeof ids[i], "%s=%s", s->path, s->id);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(s->id, catalog_get(c, k)->id);
    }
    assert_string_equal(catalog_find(c, VP_STR("a-b/"))->id, "a-b"); /* "a-b" sorts before "a/b" */
    catalog_free(c);
    tree_file(t, "zz/vm.xplane.pb", 1);
    unlink(tree_at(t, "sp+ace/vm.xplane.pb"));
    c = list(t, "");
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        for (size_t k = 0; k < 4; k++)
            if (!strncmp(ids[k], s->path, strlen(s->path)) && ids[k][strlen(s->path)] == '=')
                assert_string_equal(ids[k] + strlen(s->path) + 1, s->id);
    }
    catalog_free(c);
}

/* Among many, whose ids are not sorted where all differ: the same two of one slug as among few. */
static void ids_are_unique_among_many(void **state)
{
    tree *t = *state;
    static const char *const paths[2] = {"a-b/", "a/b/"};
    char name[32], ids[2][128];
    tree_file(t, "a/b/vm.xplane.pb", 1);
    tree_file(t, "a-b/vm.xplane.pb", 1);
    catalog *c = list(t, "");
    for (size_t i = 0; i < 2; i++) {
        const cat_session *s = catalog_find(c, vp_str_of(paths[i]));
        assert_non_null(s);
        snprintf(ids[i], sizeof ids[i], "%s", s->id);
    }
    assert_string_not_equal(ids[0], ids[1]);
    catalog_free(c);
    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof name, "d%04d/vm.xplane.pb", i);
        tree_file(t, name, 1);
    }
    c = list(t, "");
    assert_int_equal(catalog_count(c), 1202);
    for (size_t i = 0; i < 2; i++) {
        const cat_session *s = catalog_find(c, vp_str_of(paths[i]));
        assert_non_null(s);
        assert_string_equal(s->id, ids[i]);
    }
    catalog_free(c);
    unlink(tree_at(t, "a/b/vm.xplane.pb"));
    c = list(t, "");
    assert_int_equal(catalog_count(c), 1201);
    assert_string_equal(catalog_find(c, VP_STR("a-b/"))->id, "a-b");
    catalog_free(c);
}

static void sessions_are_found_by_id_name_path_and_suffix(void **state)
{
    tree *t = *state;
    tree_file(t, "x/plugins/profile/" RUN1 "/a.xplane.pb", 1);
    tree_file(t, "y/plugins/profile/" RUN1 "/a.xplane.pb", 1);
    tree_file(t, "y/plugins/profile/" RUN2 "/a.xplane.pb", 1);
    catalog *c = list(t, "");
    static const char *const keys[] = {"y-" RUN2, "y/" RUN2,  "y/plugins/profile/" RUN2,
                                       RUN2,      "00_26_20", "./y/" RUN2 "/"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_ptr_equal(catalog_find(c, vp_str_of(keys[i])), catalog_get(c, 0));
    assert_null(catalog_find(c, VP_STR(RUN1)));
    assert_int_equal(vp_error_last()->code, VP_ENOTFOUND);
    assert_non_null(strstr(vp_error_last()->message, "x/" RUN1));
    assert_non_null(strstr(vp_error_last()->message, "y/" RUN1));
    assert_null(catalog_find(c, VP_STR("6_20"))); /* not a word of its own: the 2 is missing */
    assert_null(catalog_find(c, VP_STR("")));
    assert_non_null(strstr(vp_error_last()->message, "y/" RUN2));
    catalog_free(c);
}

static void an_empty_find_says_what_it_looked_for(void **state)
{
    tree *t = *state;
    catalog *c = NULL;
    tree_text(t, "a/x.txt", "hello", 1);
    tree_text(t, "a/y.md", "hello", 1);
    c = list(t, "");
    assert_int_equal(catalog_count(c), 0);
    assert_null(catalog_latest(c));
    assert_int_equal(vp_error_last()->code, VP_ENOTFOUND);
    assert_non_null(strstr(vp_error_last()->message, "*.xplane.pb"));
    assert_non_null(strstr(vp_error_last()->message, "files: 2,"));
    catalog_free(c);
    c = NULL;
    assert_int_equal(catalog_open(&c, tree_at(t, "nowhere"), NULL), VP_ENOTFOUND);
    assert_null(c);
    assert_non_null(strstr(vp_error_last()->path, "nowhere"));
}

static void every_failed_allocation_is_survived(void **state)
{
    tree *t = *state;
    tree_file(t, "plugins/profile/" RUN1 "/vm.xplane.pb", 1);
    tree_file(t, "plugins/profile/" RUN1 "/vm.trace.json.gz", 1);
    tree_text(t, "loose/one.json", chrome, 1);
    tree_file(t, "d/w0.1700000000000.pt.trace.json", 1);
    int rc = -1;
    for (uint64_t k = 1; rc < 0; k++) {
        catalog *c = NULL;
        assert_true(k < 10000);
        vp_mem_fail_at(k, false);
        rc = catalog_open(&c, tree_at(t, ""), NULL);
        vp_mem_fail_at(0, false);
        assert_true(rc == 0 || (rc == VP_ENOMEM && !c));
        if (rc == 0)
            assert_int_equal(catalog_count(c), 3);
        catalog_free(c);
    }
}

int main(void)
{
#define ON_A_TREE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(every_level_shows_the_same_run),
        ON_A_TREE(nested_tensorboard_runs_keep_their_names),
        ON_A_TREE(both_halves_are_one_host),
        ON_A_TREE(hosts_of_one_hash_stay_apart),
        ON_A_TREE(names_do_not_make_json),
        ON_A_TREE(caches_are_ignored_and_states_are_told),
        ON_A_TREE(recordings_stand_for_hosts_without_files),
        ON_A_TREE(loose_files_are_strays_and_xplanes_make_their_directory_a_run),
        ON_A_TREE(workers_of_ten_seconds_are_one_capture),
        ON_A_TREE(newest_comes_first_and_strays_last),
        ON_A_TREE(ids_are_unique_safe_and_functions_of_the_name),
        ON_A_TREE(ids_are_unique_among_many),
        ON_A_TREE(sessions_are_found_by_id_name_path_and_suffix),
        ON_A_TREE(an_empty_find_says_what_it_looked_for),
        ON_A_TREE(every_failed_allocation_is_survived),
    };
    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
