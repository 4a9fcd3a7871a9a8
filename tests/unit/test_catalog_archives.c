/* Archives of real runs: the same sessions as if they were unpacked. */
#include "tests/unit/catalog_expect.h"

static const struct expected listed[] = {
    {"archives_made/reactant_2runs_dotslash.tar.gz",
     {"2025_02_05_11_08_24: cyclops+", "2025_02_05_11_05_24: cyclops+"}},
    {"archives_made/tpu_inference_2runs.tar.zst",
     {"profiles/2026_01_12_00_26_20: t1v-n-9eb622fc-w-0",
      "profiles/2026_01_11_21_26_41: t1v-n-9eb622fc-w-0"}},
    {"archives_made/tb_review_logs.zip",
     {"logs/standard/20200516-125033/train/2020_05_16_04_50_34: LEMON",
      "logs/standard/20200516-111503/train/2020_05_16_03_15_04: LEMON",
      "logs/standard/20200516-110930/train/2020_05_16_03_09_31: LEMON",
      "logs/standard/20200407-184922/train/2020-04-07_18-49-22: unreadable",
      "logs/standard/20200326-221129/train/2020-03-26_22-11-29: unreadable"}},
    {"archives/facebookresearch__param/dlrm_kineto.tar.gz",
     {"dlrm_kineto/1694128201545: worker0_step_12 worker1_step_12 "
      "worker2_step_12 "
      "worker3_step_12 worker4_step_12 worker5_step_12 worker6_step_12 "
      "worker7_step_12"}},
};

static void members_have_the_archive_in_their_path(void **state)
{
    (void)state;
    catalog *c = list("archives_made/tb_review_logs.zip");
    const cat_session *s = catalog_get(c, 0);
    assert_string_equal(s->path, "tb_review_logs.zip!logs/standard/20200516-125033/train/plugins/"
                                 "profile/2020_05_16_04_50_34");
    assert_string_equal(s->files[0].path,
                        "tb_review_logs.zip!logs/standard/20200516-125033/train/plugins/"
                        "profile/2020_05_16_04_50_34/LEMON.trace.json.gz");
    assert_string_equal(s->files[0].location, "tb_review_logs.zip");
    assert_int_equal(s->files[0].bytes, 13407);
    catalog_free(c);
}

static void a_truncated_archive_gives_its_good_members(void **state)
{
    (void)state;
    catalog *c = list("archives_made/truncated.tar.gz");
    const cat_session *s = catalog_find(c, VP_STR("2025_02_05_11_05_24"));
    assert_non_null(s);
    assert_int_equal(s->host_count, 1);
    assert_true(catalog_note_count(c) >= 1);
    assert_string_equal(catalog_note(c, 0)->path, "truncated.tar.gz");
    catalog_free(c);
}

static void archives_below_a_directory_keep_their_name_and_index(void **state)
{
    (void)state;
    char path[VP_PATH_MAX];
    catalog *first = list("archives_made"), *second = NULL;
    cat_options again = CAT_OPTIONS_INIT;
    const cat_session *s =
        catalog_find(first, VP_STR("reactant_2runs_dotslash.tar.gz/2025_02_05_11_08_24"));
    assert_non_null(s);
    assert_int_equal(s->host_count, 1);
    assert_int_equal(first->seen.opened, 4);
    again.previous = first;
    traces_path(path, sizeof path, "archives_made");
    assert_int_equal(catalog_open(&second, path, &again), 0);
    assert_int_equal(second->seen.opened, 0);
    assert_int_equal(catalog_count(second), catalog_count(first));
    catalog_free(first);
    assert_non_null(catalog_find(second, VP_STR("tpu_inference_2runs.tar.zst/profiles/"
                                                "2026_01_12_00_26_20")));
    catalog_free(second);
}

static void slurp(const catalog *c, const cat_file *f, bool raw, char **p, size_t *n)
{
    rd_stream *stream = NULL;
    if (catalog_stream(&stream, c, f, raw) < 0)
        fail_msg("%s: %s", f->path, vp_error_last()->message);
    assert_int_equal(rd_stream_slurp(stream, 64 << 20, p, n), 0);
    assert_int_equal(stream->damage.code, 0);
    rd_stream_close(&stream);
}

/* The members are copies of these files. */
static void members_are_read_like_files(void **state)
{
    (void)state;
    catalog *archive = list("archives_made/reactant_2runs_dotslash.tar.gz");
    catalog *copy = list("xla_gpu_cuda/EnzymeAD__Reactant.jl/traces");
    assert_int_equal(catalog_count(archive), 2);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 2; k++) {
            const cat_file *a = &catalog_get(archive, i)->files[k];
            const cat_file *b = &catalog_get(copy, i)->files[k];
            int fd = -1;
            assert_int_equal(catalog_fd(&fd, archive, a), VP_EUNSUPPORTED);
            for (int raw = 0; raw < 2; raw++) {
                char *pa, *pb;
                size_t na, nb;
                slurp(archive, a, raw, &pa, &na);
                slurp(copy, b, raw, &pb, &nb);
                assert_int_equal(na, nb);
                assert_memory_equal(pa, pb, na);
                vp_free(pa);
                vp_free(pb);
            }
        }
    }
    catalog_free(archive);
    catalog_free(copy);
}

/* One ustar entry: a 512-byte header (POSIX ustar; the checksum counts its own field as spaces)
 * and one block of content. */
static size_t add_member(char *tar, size_t at, const char *name, const char *content)
{
    char *h = tar + at;
    unsigned sum = 0;
    size_t n = strlen(content);
    snprintf(h, 100, "%s", name);
    memcpy(h + 100, "0000644", 7);
    memcpy(h + 108, "0000000", 7);
    memcpy(h + 116, "0000000", 7);
    snprintf(h + 124, 12, "%011o", (unsigned)n);
    memcpy(h + 136, "14524772000", 11); /* 1700000768 */
    memset(h + 148, ' ', 8);
    h[156] = '0';
    memcpy(h + 257, "ustar", 5);
    memcpy(h + 263, "00", 2);
    for (size_t i = 0; i < 512; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    memcpy(h + 512, content, n);
    return at + 1024;
}

static void members_follow_the_rules_of_directories(void **state)
{
    static char tar[16 * 1024];
    static const char chrome[] =
        "{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]}";
    tree t;
    size_t n = 0;
    (void)state;
    n = add_member(tar, n, "d/worker1.1700000000001.pt.trace.json", chrome);
    n = add_member(tar, n, "./loose.json", chrome);
    n = add_member(tar, n, "d/worker0.1700000000000.pt.trace.json", chrome);
    n = add_member(tar, n, "plugins/profile/run/inner.zip", "PK\3\4");
    n = add_member(tar, n, ".hidden/loose.json", chrome);
    n = add_member(tar, n, "../outside.json", chrome);
    n = add_member(tar, n, "d/readme.txt", "hello");
    tree_make(&t);
    tree_bytes(&t, "logs/packed.tar", tar, n + 1024, 1);
    catalog *c = NULL;
    assert_int_equal(catalog_open(&c, tree_at(&t, "logs"), NULL), 0);
    static const char *const want[] = {"packed.tar/run: unreadable",
                                       "packed.tar/d/1700000000000: worker0 worker1",
                                       "packed.tar/loose.json: loose.json stray"};
    expect(c, want, 3);
    assert_non_null(strstr(catalog_get(c, 0)->why, "nested archive"));
    assert_int_equal(catalog_get(c, 0)->captured_unix_ns, INT64_C(1700000768000000000));
    assert_int_equal(catalog_note_count(c), 1);
    assert_non_null(strstr(catalog_note(c, 0)->path, "outside.json"));
    catalog_free(c);
    c = NULL;
    assert_int_equal(catalog_open(&c, tree_at(&t, "logs/packed.tar"), NULL), 0);
    static const char *const alone[] = {"run: unreadable", "d/1700000000000: worker0 worker1",
                                        "loose.json: loose.json stray"};
    expect(c, alone, 3);
    char *p;
    size_t got;
    slurp(c, &catalog_get(c, 2)->files[0], false, &p, &got);
    assert_int_equal(got, strlen(chrome));
    assert_memory_equal(p, chrome, got);
    vp_free(p);
    catalog_free(c);
    tree_remove(&t);
}

int main(void)
{
    const struct CMUnitTest made[] = {
        cmocka_unit_test(members_follow_the_rules_of_directories),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test(members_have_the_archive_in_their_path),
        cmocka_unit_test(a_truncated_archive_gives_its_good_members),
        cmocka_unit_test(archives_below_a_directory_keep_their_name_and_index),
        cmocka_unit_test(members_are_read_like_files),
    };
    in_utc();
    int failed = cmocka_run_group_tests(made, NULL, NULL);
    failed += cmocka_run_group_tests(real, NULL, NULL);
    return failed + RUN_ROWS(is_listed, listed);
}
