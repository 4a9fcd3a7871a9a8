#include "trace/read/semantics/roles.h"

/* Names of lines that repeat others, completely or as a group of a stream: "Source code - from
 * #22". */
static const char *const derived[] = {
    "Framework Ops", "Framework Name Scope", "TensorFlow Ops", "TensorFlow Name Scope",
    "Source code",   "Launch Stats",         "Overlay",        "TC Overlay",
    "_counters_",
};

static bool is_derived_name(vp_str track)
{
    size_t group = vp_str_find(track, VP_STR(" - from #"));
    if (group < track.n)
        return true;
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        if (vp_str_eq(track, vp_str_of(derived[i])))
            return true;
    return false;
}

sink_role rd_role_of(vp_str process, vp_str track)
{
    if (!vp_str_starts(process, VP_STR("/device:")))
        return SINK_ROLE_PLAIN;
    if (vp_str_eq(track, VP_STR("XLA Ops")) || vp_str_starts(track, VP_STR("Stream #")))
        return SINK_ROLE_OPS;
    if (vp_str_eq(track, VP_STR("Async XLA Ops")))
        return SINK_ROLE_ASYNC;
    if (vp_str_eq(track, VP_STR("Steps")))
        return SINK_ROLE_STEPS;
    if (vp_str_eq(track, VP_STR("XLA Modules")))
        return SINK_ROLE_MODULES;
    if (vp_str_eq(track, VP_STR("XLA TraceMe")))
        return SINK_ROLE_MARKS;
    return is_derived_name(track) ? SINK_ROLE_DERIVED : SINK_ROLE_PLAIN;
}

sink_role rd_role_of_id(vp_str process, vp_str track, int64_t id)
{
    sink_role role = rd_role_of(process, track);
    bool derived_id = id >= RD_DERIVED_ID_MIN && id <= RD_DERIVED_ID_MAX;
    if (!derived_id || !vp_str_starts(process, VP_STR("/device:")))
        return role;
    return role == SINK_ROLE_STEPS || role == SINK_ROLE_MODULES ? role : SINK_ROLE_DERIVED;
}

sink_process_kind rd_process_kind(vp_str name, int32_t *ordinal)
{
    static const struct {
        vp_str prefix;
        sink_process_kind kind;
    } kinds[] = {{VP_STR_INIT("/device:TPU:"), SINK_PROCESS_TPU},
                 {VP_STR_INIT("/device:GPU:"), SINK_PROCESS_GPU},
                 {VP_STR_INIT("/host:CPU:"), SINK_PROCESS_CPU}};
    if (ordinal)
        *ordinal = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t n;
        vp_str rest = vp_str_skip(name, kinds[i].prefix.n);
        if (!vp_str_starts(name, kinds[i].prefix) || !vp_take_uint(&rest, INT32_MAX, &n))
            continue;
        if (rest.n && kinds[i].kind == SINK_PROCESS_CPU)
            continue;
        if (ordinal)
            *ordinal = (int32_t)n;
        return rest.n ? SINK_PROCESS_OTHER : kinds[i].kind;
    }
    return vp_str_starts(name, VP_STR("/device:")) ? SINK_PROCESS_OTHER : SINK_PROCESS_HOST;
}

vp_str rd_device_prefix(vp_str process)
{
    static const vp_str device = VP_STR_INIT("/device:");
    return vp_str_starts(process, device) ? vp_str_skip(process, device.n) : VP_STR_NONE;
}

/* Removes " (2)" at the end. */
static vp_str strip_track_number(vp_str track)
{
    if (!vp_str_ends(track, VP_STR(")")))
        return track;
    size_t i = vp_str_without_digits(vp_str_head(track, track.n - 1)).n;
    bool number = i + 1 < track.n && vp_str_ends(vp_str_head(track, i), VP_STR(" ("));
    return number ? vp_str_head(track, i - 2) : track;
}

vp_str rd_bare_track(vp_str process, vp_str track)
{
    vp_str device = rd_device_prefix(process), rest = vp_str_skip(track, device.n);
    if (!device.n || !vp_str_starts(track, device) || !vp_str_starts(rest, VP_STR(" ")))
        return track;
    return strip_track_number(vp_str_skip(rest, 1));
}

static bool is_opcode_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (!first && ((c >= '0' && c <= '9') || c == '-'));
}

/* The opcode that starts at `at`, or empty. */
static vp_str opcode_at(vp_str text, size_t at)
{
    size_t i = at;
    while (i < text.n && is_opcode_char(text.p[i], i == at))
        i++;
    return i > at && i < text.n && text.p[i] == '(' ? (vp_str){text.p + at, i - at} : VP_STR_NONE;
}

vp_str rd_hlo_opcode(vp_str text)
{
    for (size_t i = 1; i + 1 < text.n; i++) {
        char before = text.p[i - 1];
        if (text.p[i] != ' ' || (before != ']' && before != ')' && before != '}'))
            continue;
        vp_str opcode = opcode_at(text, i + 1);
        if (opcode.n)
            return opcode;
    }
    return VP_STR_NONE;
}

vp_str rd_stream_label(vp_str track)
{
    if (!vp_str_starts(track, VP_STR("Stream #")) || track.p[track.n - 1] != ')')
        return VP_STR_NONE;
    for (size_t i = 8; i < track.n; i++)
        if (track.p[i] == '(')
            return (vp_str){track.p + i + 1, track.n - i - 2};
    return VP_STR_NONE;
}

/* Number of ids in "0,1}…": one more than the commas before the closing brace. */
static int64_t count_ids(vp_str text)
{
    int64_t n = 1;
    for (size_t i = 0; i < text.n && text.p[i] != '}'; i++)
        n += text.p[i] == ',';
    return n;
}

int64_t rd_group_size(vp_str text)
{
    static const vp_str key = VP_STR_INIT("replica_groups=");
    uint64_t groups, devices;
    vp_str rest = vp_str_skip(text, vp_str_find(text, key) + key.n);
    if (vp_str_starts(rest, VP_STR("{{")))
        return count_ids(vp_str_skip(rest, 2));
    if (!vp_str_starts(rest, VP_STR("[")))
        return SINK_UNKNOWN;
    rest = vp_str_skip(rest, 1);
    if (!vp_take_uint(&rest, INT32_MAX, &groups) || !vp_str_starts(rest, VP_STR(",")))
        return SINK_UNKNOWN;
    rest = vp_str_skip(rest, 1);
    return vp_take_uint(&rest, INT32_MAX, &devices) ? (int64_t)devices : SINK_UNKNOWN;
}

int64_t rd_memcpy_bytes(vp_str details)
{
    static const char *const keys[] = {"size:", "num_bytes:"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        vp_str key = vp_str_of(keys[i]), rest;
        size_t at = vp_str_find(details, key);
        uint64_t n;
        rest = vp_str_skip(details, at + key.n);
        if (at < details.n && vp_take_uint(&rest, INT64_MAX, &n))
            return (int64_t)n;
    }
    return SINK_UNKNOWN;
}

int64_t rd_cost(vp_str category, int64_t amount)
{
    return amount == 0 && vp_str_eq(category, VP_STR("custom-call")) ? SINK_UNKNOWN : amount;
}
