/* Deep links into a Perfetto UI. Facts: perfetto.md 0.2 (the trace URL must be encoded as a whole,
 * or it is silently ignored), 1.3 (parameters and the allow-list of startupCommands). */
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/export/export.h"

/* Perfetto names a track by its thread: XLA's op line, XLA's GPU streams ("Stream #118(Compute)",
 * xprof.md 2.2), Kineto's streams ("stream 7", README of the traces). */
static const char *const device_tracks[] = {".*XLA Ops.*", ".*Stream #.*", ".*stream \\d+.*"};
enum { DEVICE_TRACKS = sizeof device_tracks / sizeof device_tracks[0] };

/* Ops are the slices of those tracks; on CPU, where XLA's ops lie on host threads, the slices with
 * an hlo_op (jax_cpu.md 5). Self time as Perfetto's own library defines it (perfetto.md 4). */
static const char slowest_ops[] =
    "INCLUDE PERFETTO MODULE slices.self_dur; "
    "SELECT s.name AS op, p.name AS device, COUNT(*) AS calls, SUM(d.self_dur) AS self_ns, "
    "SUM(s.dur) AS total_ns, MAX(s.dur) AS max_ns FROM slice s "
    "JOIN slice_self_dur d ON d.id = s.id JOIN thread_track k ON k.id = s.track_id "
    "JOIN thread t ON t.utid = k.utid LEFT JOIN process p ON p.upid = t.upid "
    "WHERE s.dur > 0 AND (t.name GLOB '*XLA Ops*' OR t.name GLOB '*Stream #*' "
    "OR t.name GLOB '*stream [0-9]*' OR EXTRACT_ARG(s.arg_set_id, 'args.hlo_op') IS NOT NULL) "
    "GROUP BY s.name, p.name ORDER BY self_ns DESC LIMIT 100";

static void begin_command(vp_json *j, const char *id)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", id);
    vp_json_key(j, "args");
    vp_json_begin_array(j);
}

static void end_command(vp_json *j)
{
    vp_json_end_array(j);
    vp_json_end_object(j);
}

static void for_device_tracks(vp_json *j, const char *id)
{
    for (int i = 0; i < DEVICE_TRACKS; i++) {
        begin_command(j, id);
        vp_json_cstr(j, device_tracks[i]);
        end_command(j);
    }
}

int ex_startup_commands(vp_buf *b)
{
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_array(&j);
    for_device_tracks(&j, "dev.perfetto.PinTracksByRegex");
    for_device_tracks(&j, "dev.perfetto.ExpandTracksByRegex");
    begin_command(&j, "dev.perfetto.RunQueryAndShowTab");
    vp_json_cstr(&j, slowest_ops);
    vp_json_cstr(&j, "Slowest ops");
    end_command(&j);
    vp_json_end_array(&j);
    return b->status;
}

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

int ex_percent(vp_buf *b, vp_str s)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        char code[3] = {'%', hex[c >> 4], hex[c & 15]};
        vp_buf_put(b, unreserved(c) ? s.p + i : code, unreserved(c) ? 1 : 3);
    }
    return b->status;
}

int ex_perfetto_link(vp_buf *b, const char *ui, const char *trace_url, int64_t start_ns,
                     int64_t end_ns)
{
    VP_CLEANUP(vp_buf_free) vp_buf commands;
    vp_buf_init(&commands, 64u << 10);
    VP_TRY(ex_startup_commands(&commands));
    vp_str base = vp_str_of(ui);
    while (vp_str_ends(base, VP_STR("/")))
        base.n--;
    vp_buf_str(b, base);
    vp_buf_puts(b, "/#!/?");
    if (trace_url) {
        vp_buf_puts(b, "url=");
        ex_percent(b, vp_str_of(trace_url));
        vp_buf_putc(b, '&');
    }
    vp_buf_puts(b, "startupCommands=");
    ex_percent(b, vp_buf_view(&commands));
    /* Both or none: the UI ignores one alone (perfetto.md 1.3). */
    if (start_ns >= 0 && end_ns > start_ns)
        vp_buf_printf(b, "&visStart=%lld&visEnd=%lld", (long long)start_ns, (long long)end_ns);
    return b->status;
}
