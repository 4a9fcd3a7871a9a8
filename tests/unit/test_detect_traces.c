/* Every file of the collection of real traces is what its producer says (CATALOG.tsv, README):
 * each file must be covered by a rule, and each rule by a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tests/unit/traces.h"
#include "trace/read/detect/detect.h"

typedef struct rule {
    const char *pattern; /* of the path below the collection; the first that matches counts */
    rd_format format;
    int files;
} rule;

static rule rules[] = {
    {"hostile_made/*.pftrace*", RD_UNREADABLE, 0},
    {"hostile_made/laughs.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/long.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/stack_global.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/memo.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/self.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/deep.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/reduce.pickle", RD_SNAPSHOT, 0},
    {"hostile_made/*", RD_UNKNOWN, 0}, /* databases, of formats without a reader */
    {"*.pftrace", RD_UNREADABLE, 0},
    {"*.pftrace.gz", RD_UNREADABLE, 0},
    {"expected/jax_cpu/xprof*", RD_UNKNOWN, 0}, /* XProf's answers: not inputs */
    {"expected/jax_cpu/device/*", RD_UNKNOWN, 0},
    {"expected/pytorch__kineto/inline/*.json", RD_KINETO, 0},
    {"expected/pytorch__kineto/gpu_metrics_*.json", RD_KINETO, 0},
    {"expected/google__perfetto/*.json", RD_CHROME, 0},
    {"*.csv", RD_UNKNOWN, 0},
    {"*.tsv", RD_UNKNOWN, 0},
    {"*.md", RD_UNKNOWN, 0},
    {"expected/*", RD_UNKNOWN, 0},
    {"*.xplane.pb", RD_XSPACE, 0},
    {"lfs_pointer/*", RD_UNREADABLE, 0},
    {"*.hlo_proto.pb", RD_CACHE, 0},
    {"*.SSTABLE", RD_CACHE, 0},
    {"*.op_stats_v2.pb", RD_CACHE, 0},
    {"*.smart_suggestion.pb", RD_CACHE, 0},
    {"*.overview_page.pb", RD_CACHE, 0},
    {"*.input_pipeline.pb", RD_CACHE, 0},
    {"*.tensorflow_stats.pb", RD_CACHE, 0},
    {"tf_tpu/*.json", RD_CACHE, 0},
    {"*/local.trace", RD_UNREADABLE, 0},
    {"jax_*/plugins/profile/*.json.gz", RD_XLA_JSON, 0},
    {"xla_*/plugins/profile/*.json.gz", RD_XLA_JSON, 0},
    {"tf_*/plugins/profile/*.json.gz", RD_XLA_JSON, 0},
    {"jax_cpu/memory/memory.prof", RD_PPROF, 0},
    {"*.rpd", RD_UNREADABLE, 0},
    {"*.rpd.gz", RD_UNREADABLE, 0},
    {"*.riegeli", RD_UNREADABLE, 0},
    {"perfetto_sdk/*", RD_UNKNOWN, 0},
    {"nsys/*", RD_UNKNOWN, 0},
    {"rocpd_made/*", RD_UNKNOWN, 0},
    {"memory_snapshot/*", RD_SNAPSHOT, 0},
    {"compressed_made/*.xplane.pb.gz", RD_XSPACE, 0},
    {"compressed_made/*.zst", RD_UNREADABLE, 0},
    {"memory_timeline/*", RD_UNREADABLE, 0},
    {"*/memory_timeline.raw.gz", RD_UNREADABLE, 0},
    {"pytorch_et/*", RD_UNREADABLE, 0},
    {"*/execution_trace/*_et.json.gz", RD_UNREADABLE, 0},
    {"pytorch_*/*.json", RD_KINETO, 0},
    {"pytorch_*/*.json.gz", RD_KINETO, 0},
    {"archives/*", RD_ARCHIVE, 0},
    {"archives_made/*", RD_ARCHIVE, 0},
    {"chrome_odd/*.zip", RD_ARCHIVE, 0},
    {"chrome_odd/*systrace*", RD_UNREADABLE, 0},
    {"chrome_odd/*.perfetto-trace", RD_UNREADABLE, 0},
    {"chrome_odd/jlfwong__speedscope/speedscope/*", RD_UNREADABLE, 0},
    {"chrome_odd/*.json", RD_CHROME, 0},
    {"chrome_odd/*.json.gz", RD_CHROME, 0},
    {"ascend/*.json", RD_CHROME, 0},
    {"bazel/*", RD_CHROME, 0},
    {"chrome_devtools/*", RD_CHROME, 0},
    {"clang_ftime/*", RD_CHROME, 0},
    {"dart/*", RD_CHROME, 0},
    {"onnxruntime/*", RD_CHROME, 0},
    {"viztracer/*", RD_CHROME, 0},
};

static const char *root;
static size_t files, wrong;

static size_t inflate_head(const unsigned char *p, size_t n, char *out, size_t cap)
{
    z_stream z = {.next_in = (unsigned char *)p, .avail_in = (unsigned)n};
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)cap;
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    inflate(&z, Z_SYNC_FLUSH);
    inflateEnd(&z);
    return cap - z.avail_out;
}

static rd_kind detect_file(const char *path)
{
    static unsigned char raw[16384];
    char inner[512];
    size_t inner_n = 0;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(raw, 1, sizeof raw, f);
    fclose(f);
    if (n > 2 && raw[0] == 0x1f && raw[1] == 0x8b)
        inner_n = inflate_head(raw, n, inner, sizeof inner);
    vp_str name = vp_str_of(strrchr(path, '/') + 1);
    return rd_detect(name, (vp_str){(char *)raw, n < 512 ? n : 512}, (vp_str){inner, inner_n});
}

static bool agrees(const rule *r, rd_kind k)
{
    if (r->format == RD_UNKNOWN) /* tables among them may be recognised */
        return !strncmp(r->pattern, "expected/jax_cpu/", 17) || k.format == RD_UNKNOWN;
    return k.format == r->format;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    if (type != FTW_F)
        return 0;
    const char *rel = path + strlen(root) + 1;
    files++;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fnmatch(rules[i].pattern, rel, 0) == 0) {
            rd_kind k = detect_file(path);
            rules[i].files++;
            if (!agrees(&rules[i], k)) {
                print_error("%s: %s, not %s\n", rel, rd_format_name(k.format),
                            rd_format_name(rules[i].format));
                wrong++;
            }
            return 0;
        }
    print_error("%s: no rule says what it is\n", rel);
    wrong++;
    return 0;
}

static void real_files_are_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(nftw(root, visit, 16, FTW_PHYS), 0);
    assert_int_equal(wrong, 0);
    assert_true(files >= (traces_wide() ? 600 : 300));
    for (size_t i = 0; i < sizeof rules / sizeof *rules && traces_wide(); i++)
        if (!rules[i].files)
            fail_msg("no file for %s", rules[i].pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_files_are_what_they_are)};
    root = traces_root();
    return cmocka_run_group_tests_name("detect_traces", tests, NULL, NULL);
}
