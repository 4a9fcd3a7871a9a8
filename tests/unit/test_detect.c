/* What a file is. Heads are the first bytes of real files (../shared/traces) or hand-made ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trace/read/detect/archive_kinds.h"
#include "trace/read/detect/detect.h"

typedef struct detect_case {
    const char *name;
    vp_str head;
    rd_format format;
    const char *why; /* a part of it, or NULL for none */
} detect_case;

#define H(literal)                                                                                 \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static const detect_case cases[] = {
    /* XSpace and its look-alikes, by content when the name says nothing. */
    {"vm.xplane.pb", H("\x0a\x0c\x12\x09/host:CPU"), RD_XSPACE, NULL},
    {"unknown.pb", H("\x0a\x0e\x08\x02\x12\x09/host:CPU"), RD_XSPACE, NULL},
    {"unknown.pb", H("\x0a\xa7\xf4\x06\x08\x02\x12\x0d/device:TPU:0\x1a"), RD_XSPACE, NULL},
    {"cut.pb", H("\x0a\x0c\x12\x09/ho"), RD_XSPACE, NULL},
    {"trace.pb", H("\x0a\x26\x08\x00\x12\x22\x0a\x09/host:CPU"), RD_UNKNOWN, NULL},
    {"hlo.pb", H("\x0a\xe8\x08\x0a\x0freactant_linear"), RD_UNKNOWN, NULL},
    {"tiny.pb", H("\x0a"), RD_UNKNOWN, NULL},
    {"tiny.pb", H("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), RD_UNKNOWN, NULL},
    {"h.xplane.pb", H("{\"traceEvents\":[]}"), RD_UNREADABLE,
     "not a profile although the file name is"},
    {"h.xplane.pb", H("<html>404</html>"), RD_UNREADABLE,
     "not a profile although the file name is"},
    {"h.xplane.pb", H(""), RD_UNREADABLE, "empty file"},
    {"h.trace.json", H(""), RD_UNREADABLE, "empty file"},
    {"notes.txt", H(""), RD_UNKNOWN, NULL},
    /* Caches, whatever is in them, empty ones too. */
    {"ALL_HOSTS.smart_suggestion.pb", H(""), RD_CACHE, "ignored"},
    {"vm.op_stats_v2.pb", H("\x0a\x0c\x12\x09/host:CPU"), RD_CACHE, "ignored"},
    {"jit_f(3).hlo_proto.pb", H("\x0a\x01"), RD_CACHE, "xplane contains it"},
    {"NO_MODULE.hlo_proto.pb", H(""), RD_CACHE, "xplane contains it"},
    {"vm.metadata.SSTABLE", H("x"), RD_CACHE, "ignored"},
    {".cached_tools.json", H("{\"version\":1}"), RD_CACHE, "ignored"},
    {"cache_version.txt", H("2.20.1"), RD_CACHE, "ignored"},
    {"h.memory_profile.json", H("{}"), RD_CACHE, "ignored"},
    {"any.json", H("[{\"cols\":[{\"id\":\"stepnum\""), RD_CACHE, "XProf"},
    /* Known, not readable here. */
    {"h.xplane.riegeli", H("\x83\xaf"), RD_UNREADABLE, "Riegeli"},
    {"local.trace", H("\x0a\x26\x08\x00\x12\x22\x0a\x09/host:CPU"), RD_UNREADABLE, "TensorFlow"},
    {"h.tracetable", H("x"), RD_UNREADABLE, "trace table"},
    {"r.rpd", H("SQLite format 3\0"), RD_UNREADABLE, "rpd2tracing"},
    {"r.sqlite", H("SQLite format 3\0"), RD_UNKNOWN, NULL},
    {"r.nsys-rep", H("\x01\x02"), RD_UNREADABLE, "Nsight"},
    {"r.qdrep", H("\x01\x02"), RD_UNREADABLE, "Nsight"},
    {"events.out.tfevents.1700000000.vm", H("\x18\0\0\0"), RD_UNREADABLE, "TensorBoard"},
    {"events.out.tfevents.17.vm.profile-empty", H("\x18\0\0\0"), RD_UNREADABLE, "TensorBoard"},
    {"a.perfetto-trace", H("\x0a\x04@\xc0\x84="), RD_UNREADABLE, "ui.perfetto.dev"},
    {"a.pftrace", H("\x0a\x04@\xc0\x84="), RD_UNREADABLE, "ui.perfetto.dev"},
    {"boot.txt", H("# tracer: nop\n#\n"), RD_UNREADABLE, "systrace"},
    {"x.txt", H("  foo-269 (-----) [006] .... 10.2: sched_switch: a=b"), RD_UNREADABLE, "systrace"},
    {"index.html", H("<!DOCTYPE html><html>"), RD_UNKNOWN, NULL},
    {"my_systrace.html", H("<!DOCTYPE html><html>"), RD_UNREADABLE, "systrace"},
    {"results.json", H("{\"rocprofiler-sdk-tool\": [{\"metadata\""), RD_UNREADABLE, "rocprofv3"},
    {"et.json", H("{ \"schema\": \"1.0.1\", \"pid\": 5, \"nodes\": ["), RD_UNREADABLE, "graph"},
    {"c.json", H("{\"workload_graph\": [{\"Id\": 216"), RD_UNREADABLE, "graph"},
    {"a-memory-timeline.json", H("[[1712799239577510, 17"), RD_UNREADABLE, "memory timeline"},
    {"points.json", H("[[1, 2], [3, 4]]"), RD_UNKNOWN, NULL},
    {"s.json", H("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\""),
     RD_UNREADABLE, "speedscope"},
    {"a.tar.xz",
     H("\xfd"
       "7zXZ"),
     RD_UNREADABLE, "unpack"},
    {"a.trace.json.zst", H("\x28\xb5\x2f\xfd"), RD_UNREADABLE, "zstd"},
    {"a.json.zst", H("\x28\xb5\x2f\xfd"), RD_UNREADABLE, "zstd"},
    {"blob.zst", H("\x28\xb5\x2f\xfd"), RD_UNKNOWN, NULL},
    /* Git LFS pointers under any name that would be ours. */
    {"a.pt.trace.json.gz", H("version https://git-lfs.github.com/spec/v1\noid"), RD_UNREADABLE,
     "git lfs pull"},
    {"a.xplane.pb", H("version https://git-lfs.github.com/spec/v1\noid"), RD_UNREADABLE,
     "git lfs pull"},
    {"logo.png", H("version https://git-lfs.github.com/spec/v1\noid"), RD_UNKNOWN, NULL},
    /* JSON by producer. */
    {"x.json", H("{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true}"), RD_XLA_JSON,
     NULL},
    {"x.json", H("{\"traceEvents\":[{\"ph\":\"M\",\"args\":{\"name\":\"/device:TPU:0\"}}"),
     RD_XLA_JSON, NULL},
    {"x.json", H("\n{\n\"schemaVersion\": 1,\n\"deviceProperties\": ["), RD_KINETO, NULL},
    {"x.json", H("{ \"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\""), RD_KINETO, NULL},
    {"x.json", H("{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\": 17"), RD_KINETO, NULL},
    {"x.json", H("[{\"ph\": \"X\", \"cat\" : \"cpu_op\", \"ts\": 1}]"), RD_KINETO, NULL},
    {"x.json", H("{\"traceEvents\": [{\"cat\": \"Kernel\",\"name\": \"k\""), RD_KINETO, NULL},
    {"x.json", H("{\"metadata\": {\"profiler\": {\"torch_profiler_kwargs\": {"), RD_KINETO, NULL},
    {"x.pt.trace.json", H("{\"traceEvents\": ["), RD_KINETO, NULL},
    {"x.json", H("{\"schemaVersion\": 2, \"mediaType\": \"application\"}"), RD_UNKNOWN, NULL},
    {"x.json", H("{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"B\"}"), RD_CHROME, NULL},
    {"x.json", H("{\"otherData\":{\"build_id\":\"52f0\",\"traceEvents\":"), RD_CHROME, NULL},
    {"x.json", H("{\"metadata\":{\"kernelspec\":{}},\"cells\":[]}"), RD_UNKNOWN, NULL},
    {"x.json", H("\xef\xbb\xbf [ {\"pid\":0,\"tid\":0,\"ph\":\"B\""), RD_CHROME, NULL},
    {"x.json", H("[\n { \"args\" :\n {\"snapshot\": {\"picture\": \"AQAA"), RD_CHROME, NULL},
    {"x.json", H("[{\"args\":{}}]"), RD_UNKNOWN, NULL},
    {"trace.json", H("[]"), RD_CHROME, NULL},
    {"vm.trace.json", H("{}"), RD_CHROME, NULL},
    {"x.json", H("[]"), RD_UNKNOWN, NULL},
    {"x.json", H("{"), RD_UNKNOWN, NULL},
    {"x.json", H("[\""), RD_UNKNOWN, NULL},
    {"x.json", H("{\"cat\""), RD_UNKNOWN, NULL},
    {"x.json", H("{\"traceEvents\":[{\"cat\""), RD_CHROME, NULL},
    {"x.json", H("{\"a\\\"traceEvents\":1}"), RD_UNKNOWN, NULL},
    {"package.json", H("{\"name\":\"x\",\"version\":\"1.0.0\"}"), RD_UNKNOWN, NULL},
    {"report.json", H("{\"schema\":\"view_profile.report/1\",\"tool\":{}"), RD_UNKNOWN, NULL},
    {"a.trace.json",
     H("\x7f"
       "ELF"),
     RD_UNREADABLE, "not a profile although the file name is"},
    /* Others. */
    {"memory.prof", H("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"), RD_PPROF, NULL},
    {"cpu.pb", H("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"), RD_PPROF, NULL},
    {"vm.vpcap", H("VPCAP\r\n\x1a\x01"), RD_VPCAP, NULL},
    {"renamed", H("VPCAP\r\n\x1a\x01"), RD_VPCAP, NULL},
    {"vm.vpcap", H("\x01\x02\x03"), RD_UNREADABLE, "the content is not a profile"},
    {"a.zip", H("PK\3\4\x14"), RD_ARCHIVE, NULL},
    {"a.zip", H("PK\5\6\0\0"), RD_ARCHIVE, NULL},
    {"blob", H("PK\3\4\x14"), RD_ARCHIVE, NULL},
    {"model.pt", H("PK\3\4\x14"), RD_UNKNOWN, NULL},
    {"a.tar.zst", H("\x28\xb5\x2f\xfd"), RD_ARCHIVE, NULL},
    {"a.c", H("int main(void)"), RD_UNKNOWN, NULL},
};

static void content_and_name_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const detect_case *c = &cases[i];
        rd_kind k = rd_detect(vp_str_of(c->name), c->head, VP_STR_NONE);
        if (k.format != c->format)
            fail_msg("%s (row %zu): %s, not %s", c->name, i, rd_format_name(k.format),
                     rd_format_name(c->format));
        if (!c->why != !k.why || (c->why && !strstr(k.why, c->why)))
            fail_msg("%s (row %zu): why is %s", c->name, i, k.why ? k.why : "NULL");
        assert_false(k.gzip);
    }
}

static void every_cut_of_a_head_is_harmless(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 0; n <= cases[i].head.n; n++) {
            vp_str head = vp_str_head(cases[i].head, n);
            rd_kind k = rd_detect(vp_str_of(cases[i].name), head, VP_STR_NONE);
            bool reason = k.format == RD_UNREADABLE || k.format == RD_CACHE;
            assert_int_equal(reason, k.why != NULL); /* a reason exactly where one is owed */
        }
}

static void gzip_is_looked_into(void **state)
{
    (void)state;
    vp_str gz = H("\x1f\x8b\x08\x00\x00");
    rd_kind k = rd_detect(VP_STR("x.json.gz"), gz, VP_STR("{\"traceEvents\":[{\"ph\":\"X\""));
    assert_int_equal(k.format, RD_CHROME);
    assert_true(k.gzip);
    /* without the name's help, and with a name that lies about the compression */
    k = rd_detect(VP_STR(".gz"), gz, VP_STR("[{\"ph\":\"X\",\"ts\":1}]"));
    assert_int_equal(k.format, RD_CHROME);
    k = rd_detect(VP_STR("x.json"), gz, VP_STR("[{\"ph\":\"X\",\"ts\":1}]"));
    assert_int_equal(k.format, RD_CHROME);
    assert_true(k.gzip);
    k = rd_detect(VP_STR("x.trace.json.gz"), VP_STR("{\"traceEvents\":["), VP_STR_NONE);
    assert_int_equal(k.format, RD_CHROME);
    assert_false(k.gzip);
    /* nothing inflated: the name decides */
    k = rd_detect(VP_STR("vm.trace.json.gz"), gz, VP_STR_NONE);
    assert_int_equal(k.format, RD_XLA_JSON);
    assert_true(k.gzip);
    k = rd_detect(VP_STR("vm.xplane.pb.gz"), gz, VP_STR("\x0a\x0c\x12\x09/host:CPU"));
    assert_int_equal(k.format, RD_XSPACE);
    assert_true(k.gzip);
    k = rd_detect(VP_STR("data.gz"), gz, VP_STR("some text"));
    assert_int_equal(k.format, RD_UNKNOWN);
}

/* Every row's suffixes promise an archive, in any case and without their dot; its packing alone
 * does not. */
static void archives_are_known_by_their_rows(void **state)
{
    (void)state;
    for (int k = AR_NONE + 1; k < AR_KIND_COUNT; k++) {
        const ar_kind_row *row = &ar_kinds[k];
        for (int i = 0; i < 2; i++) {
            const char *suffix = i ? row->short_suffix : row->suffix;
            char name[32], upper[32];
            size_t n;
            if (!*suffix)
                continue;
            snprintf(name, sizeof name, "runs%s", suffix);
            assert_int_equal(rd_detect_name(vp_str_of(name)).format, RD_ARCHIVE);
            assert_int_equal(rd_detect_name(vp_str_of(suffix + 1)).format, RD_ARCHIVE);
            for (n = 0; n <= strlen(name); n++)
                upper[n] = (char)toupper(name[n]);
            assert_int_equal(ar_kind_by_name(vp_str_of(upper), &n), k);
            assert_int_equal(n, strlen(suffix));
        }
        vp_str magic = vp_str_of(row->magic);
        assert_int_equal(ar_kind_by_magic(magic), magic.n ? k : AR_NONE);
        if (magic.n) {
            assert_int_equal(rd_detect(VP_STR("a"), magic, VP_STR_NONE).format, RD_UNKNOWN);
            rd_kind json = rd_detect(VP_STR("a.json"), magic, VP_STR_NONE);
            assert_int_equal(json.format, RD_UNREADABLE);
            assert_non_null(strstr(json.why, row->packer));
        }
    }
    size_t n = 9;
    assert_int_equal(ar_kind_by_name(VP_STR("runs.targ"), &n), AR_NONE);
    assert_int_equal(n, 0);
}

static void tar_is_known_by_its_checksum(void **state)
{
    (void)state;
    char h[512] = "dir/file";
    unsigned sum = 8 * ' ';
    memcpy(h + 257, "ustar", 6);
    for (size_t i = 0; i < sizeof h; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    vp_str head = {h, sizeof h};
    assert_true(rd_is_tar(head));
    assert_int_equal(rd_detect(VP_STR("a.bin"), head, VP_STR_NONE).format, RD_ARCHIVE);
    vp_str gz = H("\x1f\x8b\x08");
    assert_int_equal(rd_detect(VP_STR("run.tgz"), gz, head).format, RD_ARCHIVE);
    assert_false(rd_is_tar(vp_str_head(head, 511)));
    h[100]++;
    assert_false(rd_is_tar(head));
}

static void names_alone_promise(void **state)
{
    (void)state;
    assert_int_equal(rd_detect_name(VP_STR("vm.xplane.pb")).format, RD_XSPACE);
    assert_int_equal(rd_detect_name(VP_STR("xplane.pb")).format, RD_XSPACE);
    assert_int_equal(rd_detect_name(VP_STR("vm.trace.json.gz")).format, RD_XLA_JSON);
    assert_int_equal(rd_detect_name(VP_STR("perfetto_trace.json.gz")).format, RD_XLA_JSON);
    assert_int_equal(rd_detect_name(VP_STR("w.1.pt.trace.json.gz")).format, RD_KINETO);
    assert_int_equal(rd_detect_name(VP_STR("logs.tar.gz")).format, RD_ARCHIVE);
    assert_int_equal(rd_detect_name(VP_STR("vm.op_stats.pb")).format, RD_CACHE);
    assert_int_equal(rd_detect_name(VP_STR("x.json")).format, RD_UNKNOWN);
    assert_int_equal(rd_detect_name(VP_STR("readme.txt")).format, RD_UNKNOWN);
    assert_int_equal(rd_detect_name(VP_STR("")).format, RD_UNKNOWN);
}

static void hosts_are_the_stems(void **state)
{
    (void)state;
    static const struct {
        const char *name, *host;
    } rows[] = {
        {"vm.xplane.pb", "vm"},
        {"vm.trace.json.gz", "vm"},
        {"127.0.0.1_9012.xplane.pb", "127.0.0.1_9012"},
        {"34.83.195.179_6003.xplane.pb", "34.83.195.179_6003"},
        {"t1v-n-9eb622fc-w-0.trace.json.gz", "t1v-n-9eb622fc-w-0"},
        {"LEMON.trace.json.gz", "LEMON"},
        {"worker0.1623143089861.pt.trace.json.gz", "worker0"},
        {"worker0.pt.trace.json.gz", "worker0"},
        {"worker0_step_12.1694128201545.pt.trace.json", "worker0_step_12"},
        {"dc3b0e7228dd_851.1752215573993169006.pt.trace.json", "dc3b0e7228dd_851"},
        {"a.b.pt.trace.json", "a.b"},
        {"xplane.pb", ""},
        {"trace.json", ""},
        {"trace.json.gz", ""},
        {"remote.trace.json.gz", ""},
        {"perfetto_trace.json.gz", ""},
        {"resnet50.json", ""},
        {"memory.prof", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vp_str host = rd_host_of(vp_str_of(rows[i].name));
        if (!vp_str_eq(host, vp_str_of(rows[i].host)))
            fail_msg("%s: \"%.*s\"", rows[i].name, VP_STR_ARG(host));
    }
}

static void formats_have_names(void **state)
{
    (void)state;
    assert_string_equal(rd_format_name(RD_XSPACE), "xplane");
    assert_string_equal(rd_format_name(RD_XLA_JSON), "trace.json");
    assert_string_equal(rd_format_name(RD_KINETO), "kineto");
    assert_string_equal(rd_format_name(RD_CHROME), "chrome");
    assert_string_equal(rd_format_name(RD_PPROF), "memory");
    assert_string_equal(rd_format_name(RD_ARCHIVE), "archive");
    assert_true(rd_is_timeline(RD_XSPACE) && rd_is_timeline(RD_CHROME));
    assert_true(rd_is_timeline(RD_KINETO) && rd_is_timeline(RD_XLA_JSON));
    assert_false(rd_is_timeline(RD_PPROF) || rd_is_timeline(RD_ARCHIVE) ||
                 rd_is_timeline(RD_CACHE) || rd_is_timeline(RD_UNREADABLE) ||
                 rd_is_timeline(RD_UNKNOWN) || rd_is_timeline(RD_VPCAP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_and_name_decide),
        cmocka_unit_test(every_cut_of_a_head_is_harmless),
        cmocka_unit_test(gzip_is_looked_into),
        cmocka_unit_test(archives_are_known_by_their_rows),
        cmocka_unit_test(tar_is_known_by_its_checksum),
        cmocka_unit_test(names_alone_promise),
        cmocka_unit_test(hosts_are_the_stems),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests_name("detect", tests, NULL, NULL);
}
