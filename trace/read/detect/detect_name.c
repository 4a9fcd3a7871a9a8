/* The format expected by a file's name. */
#include "trace/read/detect/archive_kinds.h"
#include "trace/read/detect/detect_parts.h"

static const char why_stats[] =
    "a table that XProf or TensorBoard made from a profile; ignored, the profile itself is read";
static const char why_hlo[] = "an HLO proto that XProf extracted from the xplane in this "
                              "directory; ignored, the xplane contains it";
static const char why_sstable[] =
    "XProf's trace viewer cache of the xplane in this directory; ignored";
static const char why_marker[] = "internal file of XProf; ignored";
static const char why_riegeli[] =
    "a Riegeli capture of continuous profiling, which is not supported; convert it with XProf, or "
    "capture again as .xplane.pb";
static const char why_tf_trace[] =
    "a trace of TensorFlow before 2.2 (Trace proto), which is not supported; profile again with "
    "TensorFlow 2.2 or newer, which writes .xplane.pb";
static const char why_tracetable[] =
    "a trace table of old Cloud TPU tools, which is not supported; profile again with a current "
    "TensorFlow or JAX, which write .xplane.pb";
static const char why_rpd[] = "a rocmProfileData database, which is not supported; convert it with "
                              "rpd2tracing.py to a trace .json and open that";
static const char why_nsys[] =
    "an Nsight Systems report, which is not supported; open it with nsys-ui, or profile with "
    "jax.profiler, torch.profiler or the TensorFlow profiler";
static const char why_ncu[] =
    "an Nsight Compute report, which is not supported; open it with ncu-ui";
static const char why_events[] =
    "a TensorBoard event file (scalars, graphs), not a profile; open it with TensorBoard";
static const char why_pftrace[] =
    "a Perfetto trace (protobuf), which is not supported; open it at ui.perfetto.dev, or write "
    ".json from PyTorch (export_chrome_trace)";
static const char why_systrace[] =
    "an Android or Linux kernel trace (systrace), not an ML profile; open it at ui.perfetto.dev";
static const char why_packed[] =
    "an archive of an unsupported format; unpack it, or repack it as .tar.gz, .tar.zst or .zip";
static const char why_packed_trace[] =
    "a trace with unsupported compression; unpack it, or compress it with gzip";

typedef struct name_rule {
    vp_str suffix; /* with its dot; a bare name equal to it without the dot matches, too */
    rd_format format;
    const char *why;
} name_rule;

/* Longer suffixes precede those that they end with. Sources:
 * docs/reference/xprof.md#run-directories, the README of the traces. */
static const name_rule rules[] = {
    {VP_STR(".xplane.pb"), RD_XSPACE, NULL},
    {VP_STR(".pt.trace.json"), RD_KINETO, NULL},
    {VP_STR(".memory_profile.json"), RD_CACHE, why_stats},
    {VP_STR(".trace.json"), RD_XLA_JSON, NULL},
    {VP_STR("perfetto_trace.json"), RD_XLA_JSON, NULL},
    {VP_STR("memory.prof"), RD_PPROF, NULL},
    {VP_STR(".vpcap"), RD_VPCAP, NULL},
    {VP_STR(".op_stats.pb"), RD_CACHE, why_stats},
    {VP_STR(".op_stats_v2.pb"), RD_CACHE, why_stats},
    {VP_STR(".overview_page.pb"), RD_CACHE, why_stats},
    {VP_STR(".input_pipeline.pb"), RD_CACHE, why_stats},
    {VP_STR(".tensorflow_stats.pb"), RD_CACHE, why_stats},
    {VP_STR(".kernel_stats.pb"), RD_CACHE, why_stats},
    {VP_STR(".memory_profile.pb"), RD_CACHE, why_stats},
    {VP_STR(".pod_viewer.pb"), RD_CACHE, why_stats},
    {VP_STR(".op_profile.pb"), RD_CACHE, why_stats},
    {VP_STR(".hlo_stats.pb"), RD_CACHE, why_stats},
    {VP_STR(".roofline_model.pb"), RD_CACHE, why_stats},
    {VP_STR(".smart_suggestion.pb"), RD_CACHE, why_stats},
    {VP_STR(".dcn_collective_stats.pb"), RD_CACHE, why_stats},
    {VP_STR(".overview_page.json"), RD_CACHE, why_stats},
    {VP_STR(".input_pipeline.json"), RD_CACHE, why_stats},
    {VP_STR(".tensorflow_stats.json"), RD_CACHE, why_stats},
    {VP_STR(".kernel_stats.json"), RD_CACHE, why_stats},
    {VP_STR(".pod_viewer.json"), RD_CACHE, why_stats},
    {VP_STR(".op_profile.json"), RD_CACHE, why_stats},
    {VP_STR(".hlo_proto.pb"), RD_CACHE, why_hlo},
    {VP_STR(".sstable"), RD_CACHE, why_sstable},
    {VP_STR(".cached_tools.json"), RD_CACHE, why_marker},
    {VP_STR("cache_version.txt"), RD_CACHE, why_marker},
    {VP_STR(".xplane.riegeli"), RD_UNREADABLE, why_riegeli},
    {VP_STR(".tracetable"), RD_UNREADABLE, why_tracetable},
    {VP_STR(".rpd"), RD_UNREADABLE, why_rpd},
    {VP_STR(".nsys-rep"), RD_UNREADABLE, why_nsys},
    {VP_STR(".qdrep"), RD_UNREADABLE, why_nsys},
    {VP_STR(".qdstrm"), RD_UNREADABLE, why_nsys},
    {VP_STR(".ncu-rep"), RD_UNREADABLE, why_ncu},
    {VP_STR(".perfetto-trace"), RD_UNREADABLE, why_pftrace},
    {VP_STR(".pftrace"), RD_UNREADABLE, why_pftrace},
    {VP_STR(".systrace"), RD_UNREADABLE, why_systrace},
    {VP_STR(".tar.xz"), RD_UNREADABLE, why_packed},
    {VP_STR(".txz"), RD_UNREADABLE, why_packed},
    {VP_STR(".tar.bz2"), RD_UNREADABLE, why_packed},
    {VP_STR(".tar.lz4"), RD_UNREADABLE, why_packed},
    {VP_STR(".trace.json.zst"), RD_UNREADABLE, why_packed_trace},
    {VP_STR(".trace.json.xz"), RD_UNREADABLE, why_packed_trace},
    {VP_STR(".trace.json.bz2"), RD_UNREADABLE, why_packed_trace},
    {VP_STR(".xplane.pb.zst"), RD_UNREADABLE, why_packed_trace},
    {VP_STR(".xplane.pb.xz"), RD_UNREADABLE, why_packed_trace},
    {VP_STR(".trace"), RD_UNREADABLE, why_tf_trace},
};

bool rd_name_has(vp_str name, vp_str what)
{
    return vp_str_find_nocase(name, what) < name.n;
}

vp_str rd_name_without_gz(vp_str name)
{
    return vp_str_ends_nocase(name, VP_STR(".gz")) ? vp_str_head(name, name.n - 3) : name;
}

static bool rule_matches(const name_rule *r, vp_str name)
{
    if (vp_str_ends_nocase(name, r->suffix))
        return true;
    return name.n + 1 == r->suffix.n && r->suffix.p[0] == '.' &&
           vp_str_eq_nocase(name, vp_str_skip(r->suffix, 1));
}

rd_kind rd_kind_by_name(vp_str name)
{
    vp_str stem = rd_name_without_gz(name);
    size_t n;
    ar_kind archive = ar_kind_by_name(stem, &n);
    bool gzip = stem.n < name.n || archive == AR_TAR_GZ;
    if (archive != AR_NONE)
        return (rd_kind){RD_ARCHIVE, gzip, NULL};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rule_matches(&rules[i], stem))
            return (rd_kind){rules[i].format, gzip, rules[i].why};
    if (rd_name_has(name, VP_STR(".tfevents.")))
        return (rd_kind){RD_UNREADABLE, false, why_events};
    return (rd_kind){.format = RD_UNKNOWN};
}

rd_kind rd_detect_name(vp_str name)
{
    return rd_kind_by_name(name);
}

/* "worker0.1623143089861" from PyTorch's tensorboard_trace_handler: the number is the time. */
static vp_str strip_trace_number(vp_str stem)
{
    size_t dot = vp_str_rfind_char(stem, '.');
    uint64_t time;
    if (dot < stem.n && vp_str_to_u64(vp_str_skip(stem, dot + 1), &time))
        return vp_str_head(stem, dot);
    return stem;
}

vp_str rd_host_of(vp_str base_name)
{
    vp_str name = rd_name_without_gz(base_name);
    if (vp_str_ends_nocase(name, VP_STR(".pt.trace.json")))
        return strip_trace_number(vp_str_head(name, name.n - strlen(".pt.trace.json")));
    if (vp_str_eq(name, VP_STR("remote.trace.json"))) /* python -m jax.collect_profile */
        return (vp_str){name.p, 0};
    for (int f = 0; f < RD_FORMAT_COUNT; f++) {
        vp_str suffix = vp_str_of(rd_formats[f].suffix);
        if (suffix.n && vp_str_ends_nocase(name, suffix))
            return vp_str_head(name, name.n - suffix.n);
    }
    return (vp_str){name.p, 0};
}
