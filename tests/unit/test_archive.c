/* Archives that are what they should be, and the same ones cut and damaged: what is delivered is
 * right, or it is said that it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "archive_maker.h"
#include "tests/unit/rows.h"
#include "tests/unit/traces.h"
#include "trace/base/mem.h"
#include "trace/read/archive/archive.h"

enum { TAR, TAR_GZ, TAR_ZST, ZIP, FORMATS };
static const char *const format_names[] = {"tar", "tar.gz", "tar.zst", "zip"};

#define FILES 5
static const char *const names[FILES] = {"run/a.json", "run/b.xplane.pb", "run/empty",
                                         "run/sub/c.json", "d"};
static char *contents[FILES];
static size_t sizes[FILES] = {3000, 700, 0, 1, 40000};

static uint64_t rng = 88172645463325252u;

static uint32_t rnd(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 32);
}

static bytes make_tar(void)
{
    bytes b = {0};
    tar_add(&b, (tar_entry){.name = "run/", .type = '5'});
    for (int i = 0; i < FILES; i++)
        tar_add(&b, (tar_entry){.name = names[i], .data = contents[i]});
    tar_end(&b);
    return b;
}

static bytes make_zip(void)
{
    zip_maker z = {0};
    zip_add(&z, (zip_entry){.name = "run/", .data = "", .n = 0});
    for (int i = 0; i < FILES; i++)
        zip_add(&z,
                (zip_entry){
                    .name = names[i], .data = contents[i], .n = sizes[i], .method = i % 2 ? 0 : 8});
    return zip_end(&z);
}

static bytes make(int format)
{
    bytes tar, out;
    if (format == ZIP)
        return make_zip();
    tar = make_tar();
    if (format == TAR)
        return tar;
    out = format == TAR_GZ ? gzip_of(tar) : zstd_of(tar);
    free(tar.p);
    return out;
}

static int number_of(const char *name)
{
    for (int i = 0; i < FILES; i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

typedef struct verdict {
    int rc;         /* of the index */
    size_t listed;  /* members with a name of ours */
    size_t right;   /* of them: read without damage, every byte as it was */
    size_t silent;  /* of them: read without damage, other bytes */
    size_t reports; /* damage of the index or of a member, refusals */
} verdict;

static void look_at(int fd, const ar_member *m, verdict *v)
{
    rd_stream *s = NULL;
    char *p = NULL;
    size_t n = 0;
    int i = number_of(m->name);
    v->listed += i >= 0;
    int rc = ar_member_open(&s, fd, m->index);
    if (rc == 0)
        rc = rd_stream_slurp(s, 1 << 20, &p, &n);
    if (rc < 0 || s->damage.code) {
        v->reports++;
    } else if (i >= 0) {
        bool same = n == sizes[i] && memcmp(p, contents[i], n) == 0;
        v->right += same;
        v->silent += !same;
        assert_int_equal(m->head_n, n < 512 ? n : 512);
        assert_memory_equal(m->head, p, m->head_n);
    }
    vp_free(p);
    rd_stream_close(&s);
}

static verdict judge(bytes b)
{
    verdict v = {0};
    ar_index *ix = NULL;
    int fd = file_with(b);
    v.rc = ar_index_make(&ix, fd, NULL, NULL);
    if (v.rc == 0) {
        v.reports = (ix->damage.code != 0) + ix->refusal_count;
        for (size_t i = 0; i < ix->member_count; i++)
            look_at(fd, &ix->members[i], &v);
        ar_index_free(ix);
    }
    close(fd);
    return v;
}

static void every_format_gives_the_same_members(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        bytes b = make(f);
        ar_index *ix = NULL;
        int fd = file_with(b);
        assert_int_equal(ar_index_make(&ix, fd, NULL, NULL), 0);
        assert_string_equal(ix->format, format_names[f]);
        assert_int_equal(ix->damage.code, 0);
        assert_int_equal(ix->refusal_count, 0);
        assert_int_equal(ix->member_count, FILES);
        for (size_t i = 0; i < FILES; i++) {
            assert_string_equal(ix->members[i].name, names[i]);
            assert_int_equal(ix->members[i].size, sizes[i]);
            assert_int_equal(ix->members[i].index, i + 1); /* behind the directory */
            if (f != ZIP) /* 14750643250 octal; a zip has local time */
                assert_int_equal(ix->members[i].mtime_ns, INT64_C(1738753704) * 1000000000);
        }
        ar_index_free(ix);
        verdict v = judge(b);
        assert_int_equal(v.right, FILES);
        assert_int_equal(v.reports, 0);
        rd_stream *s = NULL;
        assert_int_equal(ar_member_open(&s, fd, FILES + 1), VP_ENOTFOUND);
        close(fd);
        free(b.p);
    }
}

static void a_stream_knows_its_size_and_progress(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        bytes b = make(f);
        int fd = file_with(b);
        rd_stream *s = NULL;
        char *p;
        size_t n;
        assert_int_equal(ar_member_open(&s, fd, FILES), 0); /* "d" */
        close(fd);
        assert_int_equal(s->total, 40000);
        assert_int_equal(s->next(s, &p, &n), 1);
        assert_int_equal(n, 40000);
        assert_true(s->raw_done > 0 && s->raw_done <= s->raw_total);
        memset(p - RD_HEADROOM, 0, RD_HEADROOM + n);
        assert_int_equal(s->next(s, &p, &n), 0);
        assert_int_equal(s->next(s, &p, &n), 0);
        s->close(s);
        free(b.p);
    }
}

/* What is cut off is missing or damaged, what is listed as sound is sound. Only a tar that lost
 * nothing but a part of its padding counts as whole. */
static void cut_archives_keep_their_good_members(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        bytes b = make(f);
        size_t partial = 0;
        for (size_t cut = 0; cut < b.n; cut += 1 + b.n / 199) {
            verdict v = judge((bytes){b.p, cut});
            if (v.rc == 0) {
                bool whole = f == TAR && v.right == FILES && cut >= b.n - 512;
                assert_true(v.reports > 0 || whole);
                assert_int_equal(v.silent, 0);
                partial += v.right > 0;
            } else {
                assert_int_equal(v.rc, VP_ECORRUPT);
            }
        }
        /* most of the content is in the last file; zstd has it all in one block */
        if (f != TAR_ZST && partial <= 20)
            fail_msg("%s: %zu cuts gave members", format_names[f], partial);
        free(b.p);
    }
}

/* 1,000 bits of each container whose format has checksums (tar alone has none over its data). */
static void no_flipped_bit_changes_a_file_silently(void **state)
{
    (void)state;
    static const int checked[] = {TAR_GZ, ZIP};
    for (size_t k = 0; k < 2; k++) {
        bytes b = make(checked[k]);
        size_t reported = 0;
        for (int i = 0; i < 1000; i++) {
            size_t bit = rnd() % (b.n * 8);
            b.p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
            verdict v = judge(b);
            b.p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
            assert_int_equal(v.silent, 0);
            reported += v.rc < 0 || v.reports > 0;
            /* unreported: every file is there and right, but a zip's name has no checksum */
            if (v.rc == 0 && v.reports == 0)
                assert_true(v.right >= FILES - (checked[k] == ZIP));
        }
        assert_true(reported > 900);
        free(b.p);
    }
}

/* A flipped bit in one member of a zip leaves the others readable. */
static void members_of_a_zip_stand_alone(void **state)
{
    (void)state;
    bytes b = make(ZIP);
    size_t at = 0;
    while (memcmp(b.p + at, names[0], strlen(names[0])) != 0)
        at++;
    b.p[at + strlen(names[0]) + 5] ^= 0x20; /* early in the first file's deflated data */
    verdict v = judge(b);
    assert_int_equal(v.rc, 0);
    assert_true(v.reports >= 1);
    assert_int_equal(v.right, FILES - 1);
    assert_int_equal(v.silent, 0);
    free(b.p);
}

static void the_damaged_header_of_a_tar_ends_it(void **state)
{
    (void)state;
    bytes b = make(TAR);
    size_t at = 512 + 512 + 3072 + 10; /* the name of the second file */
    b.p[at] ^= 1;
    verdict v = judge(b);
    assert_int_equal(v.rc, 0);
    assert_int_equal(v.right, 1);
    assert_true(v.reports >= 1);
    free(b.p);
}

static void archives_one_behind_the_other_are_one(void **state)
{
    (void)state;
    bytes b = {0}, second = {0};
    tar_add(&b, (tar_entry){.name = "first", .data = "1"});
    tar_end(&b);
    tar_add(&second, (tar_entry){.name = "second", .data = "2"});
    tar_end(&second);
    put(&b, second.p, second.n);
    ar_index *ix = NULL;
    int fd = file_with(b);
    assert_int_equal(ar_index_make(&ix, fd, NULL, NULL), 0);
    assert_int_equal(ix->member_count, 2);
    assert_int_equal(ix->damage.code, 0);
    ar_index_free(ix);
    close(fd);
    free(b.p);
    free(second.p);
}

typedef struct watcher {
    int calls, stop_after;
    int64_t last, total;
} watcher;

static int watch(void *ctx, int64_t done, int64_t total)
{
    watcher *w = ctx;
    assert_true(done >= 0 && done <= total);
    w->last = done;
    w->total = total;
    return ++w->calls > w->stop_after;
}

static void progress_is_told_and_may_stop(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        bytes b = make(f);
        int fd = file_with(b);
        ar_index *ix = NULL;
        watcher w = {.stop_after = 1 << 20};
        assert_int_equal(ar_index_make(&ix, fd, watch, &w), 0);
        if (w.calls < FILES - 1) /* one a file with data, at least */
            fail_msg("%s: progress was told %d times", format_names[f], w.calls);
        assert_int_equal(w.total, b.n);
        ar_index_free(ix);
        ix = NULL;
        w = (watcher){.stop_after = 2};
        assert_int_equal(ar_index_make(&ix, fd, watch, &w), VP_ECANCELLED);
        assert_int_equal(w.calls, 3);
        assert_null(ix);
        close(fd);
        free(b.p);
    }
}

static void out_of_memory_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        bytes b = make(f);
        int fd = file_with(b);
        size_t failures = 0;
        for (uint64_t k = 1; k < 60; k++) {
            ar_index *ix = NULL;
            rd_stream *s = NULL;
            vp_mem_fail_at(k, false);
            int rc = ar_index_make(&ix, fd, NULL, NULL);
            vp_mem_fail_at(0, false);
            assert_true(rc == 0 || rc == VP_ENOMEM || rc == VP_ECORRUPT);
            assert_true(rc == 0 || !ix);
            failures += rc < 0;
            ar_index_free(ix);
            vp_mem_fail_at(k, false);
            rc = ar_member_open(&s, fd, 2);
            vp_mem_fail_at(0, false);
            failures += rc < 0;
            rd_stream_close(&s);
        }
        if (failures < 7)
            fail_msg("%s: %zu allocations failed", format_names[f], failures);
        close(fd);
        free(b.p);
    }
}

/* ---- real archives ---- */

static bytes read_whole(const char *rel)
{
    bytes b = {0};
    unsigned char buf[65536];
    char path[4096];
    FILE *f = fopen(traces_path(path, sizeof path, rel), "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        put(&b, buf, n);
    fclose(f);
    return b;
}

static const ar_member *member_named(const ar_index *ix, const char *end)
{
    for (size_t i = 0; i < ix->member_count; i++)
        if (vp_str_ends(vp_str_of(ix->members[i].name), vp_str_of(end)))
            return &ix->members[i];
    return NULL;
}

/* The packed runs are copies of files that lie beside them (the traces' README). */
static const struct packed {
    const char *archive, *member, *file;
    size_t members;
} packed[] = {
    {"archives_made/reactant_2runs_dotslash.tar.gz", "2025_02_05_11_08_24/cyclops.xplane.pb",
     "xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_08_24/"
     "cyclops.xplane.pb",
     4},
    {"archives_made/tpu_inference_2runs.tar.zst",
     "2026_01_12_00_26_20/t1v-n-9eb622fc-w-0.trace.json.gz",
     "jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/2026_01_12_00_26_20/"
     "t1v-n-9eb622fc-w-0.trace.json.gz",
     2},
    {"archives_made/tb_review_logs.zip", "2020_05_16_04_50_34/LEMON.trace.json.gz",
     "tf_cpu/Alwaysproblem__tensorboard-review/logs/standard/20200516-125033/train/plugins/"
     "profile/2020_05_16_04_50_34/LEMON.trace.json.gz",
     14},
    {"archives/facebookresearch__param/dlrm_kineto.tar.gz",
     "worker3_step_12.1694128201557.pt.trace.json",
     "pytorch_cuda/facebookresearch__param/dlrm_kineto/"
     "worker3_step_12.1694128201557.pt.trace.json",
     8},
};

static void a_packed_run_equals_the_file(void **state)
{
    const struct packed *row = *state;
    ar_index *ix = NULL;
    rd_stream *s = NULL;
    char *p = NULL;
    size_t n = 0;
    char path[4096];
    traces_need(row->archive);
    traces_need(row->file);
    int fd = open(traces_path(path, sizeof path, row->archive), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ar_index_make(&ix, fd, NULL, NULL), 0);
    assert_int_equal(ix->member_count, row->members);
    assert_int_equal(ix->damage.code, 0);
    const ar_member *m = member_named(ix, row->member);
    assert_non_null(m);
    assert_int_equal(ar_member_open(&s, fd, m->index), 0);
    assert_int_equal(rd_stream_slurp(s, 64 << 20, &p, &n), 0);
    assert_int_equal(s->damage.code, 0);
    bytes want = read_whole(row->file);
    assert_int_equal(n, want.n);
    assert_memory_equal(p, want.p, n);
    s->close(s);
    close(fd);
    ar_index_free(ix);
    vp_free(p);
    free(want.p);
}

/* Its frame carries a checksum: a flipped bit anywhere is reported, or nothing has changed. */
static void a_checksummed_zstd_reports_flipped_bits(void **state)
{
    (void)state;
    bytes b = read_whole("archives_made/tpu_inference_2runs.tar.zst");
    size_t reported = 0;
    for (int i = 0; i < 60; i++) {
        size_t bit = i < 10 ? (b.n - 1 - (size_t)i) * 8 : rnd() % (b.n * 8);
        ar_index *ix = NULL;
        b.p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        int fd = file_with(b);
        int rc = ar_index_make(&ix, fd, NULL, NULL);
        reported += rc < 0 || ix->damage.code;
        b.p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        close(fd);
        ar_index_free(ix);
    }
    assert_int_equal(reported, 60);
    free(b.p);
}

static int make_contents(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++) {
        contents[i] = malloc(sizes[i] + 1);
        for (size_t k = 0; k < sizes[i]; k++)
            contents[i][k] = (char)('!' + rnd() % (i % 2 ? 90 : 7));
        contents[i][sizes[i]] = 0;
    }
    return 0;
}

static int free_contents(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++)
        free(contents[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_gives_the_same_members),
        cmocka_unit_test(a_stream_knows_its_size_and_progress),
        cmocka_unit_test(cut_archives_keep_their_good_members),
        cmocka_unit_test(no_flipped_bit_changes_a_file_silently),
        cmocka_unit_test(members_of_a_zip_stand_alone),
        cmocka_unit_test(the_damaged_header_of_a_tar_ends_it),
        cmocka_unit_test(archives_one_behind_the_other_are_one),
        cmocka_unit_test(progress_is_told_and_may_stop),
        cmocka_unit_test(out_of_memory_is_an_error_and_leaks_nothing),
        cmocka_unit_test(a_checksummed_zstd_reports_flipped_bits),
    };
    int failed = cmocka_run_group_tests_name("archive", tests, make_contents, free_contents);
    return failed + RUN_ROWS(a_packed_run_equals_the_file, packed);
}
