#include "server/mcp/mcp_tools.h"

#include <stdio.h>
#include <string.h>

#include "server/mcp/mcp_text.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

#define VALUE_MAX 400u
#define BYTES_LEAST 2048
#define BYTES_MOST 65536

#define SESSION                                                                                    \
    {                                                                                              \
        "session", NULL, MCP_TEXT, false, NULL,                                                    \
            "the run: its id from list_sessions, or a unique end of the id; default: the latest "  \
            "run"                                                                                  \
    }
#define HOST                                                                                       \
    {                                                                                              \
        "host", "--host", MCP_TEXT, false, NULL, "only this host, for runs with several hosts"     \
    }
#define DEVICE                                                                                     \
    {                                                                                              \
        "device", "--device", MCP_TEXT, false, NULL,                                               \
            "only this device: its name or the end of it, such as TPU:0"                           \
    }
#define GROUP                                                                                      \
    {                                                                                              \
        "group", "--group", MCP_CHOICE, false,                                                     \
            "name|category|scope|source|module|operator|outermost|raw",                            \
            "how events are grouped into rows; default name"                                       \
    }
#define BY                                                                                         \
    {                                                                                              \
        "by", "--by", MCP_CHOICE, false, "self|total|calls|max", "order of the rows; default self" \
    }
#define WHERE                                                                                      \
    {                                                                                              \
        "where", "--where", MCP_CHOICE, false, "device|host",                                      \
            "what to report: device ops (default) or host threads"                                 \
    }
#define LIMIT                                                                                      \
    {                                                                                              \
        "limit", "--top", MCP_WHOLE, false, NULL, "rows per device, slowest first; default 20"     \
    }

#define OP_COLUMNS                                                                                 \
    {"op", "name", MCP_NAME}, {"device", "device", MCP_NAME}, {"class", "class", MCP_WORD},        \
        {"calls", "calls", MCP_NUMBER}, {"self ms", "self_ps", MCP_MS},                            \
        {"self % of the device op time", "self_share_of_ops", MCP_PERCENT},                        \
        {"self % of the window", "self_share_of_window", MCP_PERCENT},                             \
        {"mean us per call", "mean_ps", MCP_US},                                                   \
    {                                                                                              \
        "max us per call", "max_ps", MCP_US                                                        \
    }

#define WINDOW_HEAD                                                                                \
    {"run", "session.id", MCP_NAME}, {"window from ms", "window.start_ps", MCP_MS},                \
        {"window to ms", "window.end_ps", MCP_MS}, {"first device", "devices.0.name", MCP_NAME},   \
        {"its window ms", "devices.0.breakdown.window_ps", MCP_MS},                                \
        {"its compute ms", "devices.0.breakdown.compute_ps", MCP_MS},                              \
        {"its exposed communication ms", "devices.0.breakdown.exposed_comm_ps", MCP_MS},           \
        {"its exposed copies ms", "devices.0.breakdown.exposed_copy_ps", MCP_MS},                  \
        {"its idle ms", "devices.0.breakdown.idle_ps", MCP_MS},                                    \
    {                                                                                              \
        "devices", "devices", MCP_COUNT                                                            \
    }

#define HOLDER_PLACE                                                                               \
    {"scope", "scope", MCP_NAME},                                                                  \
    {                                                                                              \
        "source", "source", MCP_NAME                                                               \
    }

static const mcp_view memory_views[] = {
    {"allocators",
     "memory.allocators",
     {{"allocator", "allocator", MCP_NAME},
      {"host", "host", MCP_NAME},
      {"peak bytes", "peak_bytes", MCP_NUMBER},
      {"peak at ms", "peak_start_ps", MCP_MS},
      {"reserved bytes", "reserved_bytes", MCP_NUMBER},
      {"fragmented bytes", "fragmented_bytes", MCP_NUMBER},
      {"of reserved bytes", "fragmented_of_bytes", MCP_NUMBER},
      {"bytes at the end", "end_bytes", MCP_NUMBER},
      {"allocations", "allocations", MCP_NUMBER},
      {"frees", "frees", MCP_NUMBER},
      {"out-of-memory events", "out_of_memory", MCP_NUMBER},
      {"holders of the peak", "top", MCP_COUNT},
      {"names whose bytes grow with every step", "leaks", MCP_COUNT}}},
    {"holders",
     "memory.allocators.%.top",
     {{"holder of the peak", "name", MCP_NAME},
      {"bytes", "bytes", MCP_NUMBER},
      {"allocations", "count", MCP_NUMBER},
      {"step", "step", MCP_NUMBER},
      HOLDER_PLACE}},
    {"programs",
     "memory_static",
     {{"program", "module", MCP_NAME},
      {"host", "host", MCP_NAME},
      {"ran", "ran", MCP_WORD},
      {"planned peak bytes", "peak_bytes", MCP_NUMBER},
      {"argument bytes", "parameter_bytes", MCP_NUMBER},
      {"result bytes", "output_bytes", MCP_NUMBER},
      {"constant bytes", "constant_bytes", MCP_NUMBER},
      {"temporary bytes", "temp_bytes", MCP_NUMBER},
      {"bytes shared by arguments and results", "alias_bytes", MCP_NUMBER},
      {"peak bytes without padding", "peak_unpadded_bytes", MCP_NUMBER},
      {"live at the peak", "live", MCP_COUNT}}},
    {"program_holders",
     "memory_static.%.live",
     {{"instruction", "instruction", MCP_NAME},
      {"opcode", "opcode", MCP_NAME},
      {"kind", "kind", MCP_WORD},
      {"shape", "shape", MCP_NAME},
      {"bytes", "bytes", MCP_NUMBER},
      {"bytes without padding", "unpadded_bytes", MCP_NUMBER},
      HOLDER_PLACE}},
    {0}};

const mcp_tool mcp_tools[] = {
    {.name = "list_sessions",
     .title = "List profiled runs",
     .about = "The profiled runs, newest first. Start here: other tools take `session` from the "
              "first column; without it they use the latest run.",
     .command = {"list"},
     .rows = "sessions",
     .head = {{"runs", "sessions", MCP_COUNT}},
     .columns = {{"session", "id", MCP_NAME},
                 {"kind", "kind", MCP_WORD},
                 {"captured (UTC)", "captured_unix_ns", MCP_SECONDS},
                 {"hosts", "hosts", MCP_COUNT},
                 {"bytes", "bytes", MCP_NUMBER},
                 {"status", "status", MCP_WORD},
                 {"reason if not readable", "why", MCP_NAME}}},
    {.name = "top_ops",
     .title = "Slowest ops",
     .about = "The ops of a run that take the most time, or with `group` the scopes (parts of the "
              "model), source lines or modules. Self time is the time in which an op is the "
              "innermost one on its device, so rows add up to the device op time.",
     .command = {"top"},
     .args = {SESSION,
              GROUP,
              BY,
              WHERE,
              DEVICE,
              HOST,
              LIMIT,
              {"step", "--step", MCP_WHOLE, false, NULL, "only the step with this number"}},
     .rows = "ops",
     .head = {WINDOW_HEAD},
     .columns = {OP_COLUMNS, {"scope", "scope", MCP_NAME}}},
    {.name = "findings",
     .title = "What is slow and why",
     .about =
         "Problems of a run, found by rules: each finding with its number, places in time, the "
         "potential saving (upper bound) and advice. Call this first, before making assumptions.",
     .command = {"findings"},
     .args = {SESSION, HOST},
     .rows = "findings",
     .only_at = "status",
     .only = "fired",
     .head = {{"run", "session.id", MCP_NAME},
              {"window from ms", "window.start_ps", MCP_MS},
              {"window to ms", "window.end_ps", MCP_MS}},
     .columns = {{"id", "id", MCP_WORD},
                 {"severity", "severity", MCP_WORD},
                 {"title", "title", MCP_WORD},
                 {"message", "message", MCP_SAYING},
                 {"potential saving ms (upper bound)", "impact.time_ps", MCP_MS},
                 {"potential saving % of the window", "impact.share_of_window", MCP_PERCENT},
                 {"first place: device", "where.0.device", MCP_NAME},
                 {"from ms", "where.0.start_ps", MCP_MS},
                 {"to ms", "where.0.end_ps", MCP_MS},
                 {"advice", "suggestion", MCP_WORD}}},
    {.name = "compare",
     .title = "Compare two runs",
     .about = "What changed from run `a` to run `b`: a verdict (regression, improvement, noise, "
              "unverified), the difference of the step and its parts, then the ops that changed, "
              "largest first. Use it to verify a change: only a difference above the noise counts.",
     .command = {"compare"},
     .args = {{"a", NULL, MCP_TEXT, true, NULL,
               "the run before the change: an id from list_sessions"},
              {"b", NULL, MCP_TEXT, true, NULL, "the run after the change"}},
     .rows = "ops",
     .head = {{"verdict", "noise.verdict", MCP_WORD},
              {"main change", "cause", MCP_SAYING},
              {"noise threshold ms", "noise.threshold_ps", MCP_MS},
              {"steps of a", "noise.steps_a", MCP_NUMBER},
              {"steps of b", "noise.steps_b", MCP_NUMBER},
              {"mean step of a ms", "step.a_ps", MCP_MS},
              {"mean step of b ms", "step.b_ps", MCP_MS},
              {"difference of the mean step ms", "step.delta_ps", MCP_MS},
              {"median step of a ms", "median.a_ps", MCP_MS},
              {"median step of b ms", "median.b_ps", MCP_MS},
              {"first device", "devices.0.name", MCP_NAME},
              {"its difference in compute ms", "devices.0.compute.delta_ps", MCP_MS},
              {"in exposed communication ms", "devices.0.exposed_comm.delta_ps", MCP_MS},
              {"in exposed copies ms", "devices.0.exposed_copy.delta_ps", MCP_MS},
              {"in idle ms", "devices.0.idle.delta_ps", MCP_MS}},
     .columns = {{"op", "name", MCP_NAME},
                 {"device", "device", MCP_NAME},
                 {"a ms per step (per window if there are no steps)", "a_ps", MCP_MS},
                 {"b ms", "b_ps", MCP_MS},
                 {"difference ms", "delta_ps", MCP_MS},
                 {"only in b", "new", MCP_WORD},
                 {"only in a", "gone", MCP_WORD},
                 {"calls in a", "calls_a", MCP_NUMBER},
                 {"calls in b", "calls_b", MCP_NUMBER},
                 {"above the noise", "significant", MCP_WORD},
                 {"reason", "reason", MCP_WORD},
                 {"scope", "scope", MCP_NAME}}},
    {.name = "step",
     .title = "Steps of a run",
     .about = "The length of each training step and its breakdown, and the median and spread of "
              "all steps. With `number`, only that step; top_ops with `step` lists the ops in it.",
     .command = {"report"},
     .args = {SESSION,
              HOST,
              {"number", "", MCP_WHOLE, false, NULL, "only the step with this number"}},
     .rows = "steps.list",
     .only_at = "number",
     .only_arg = "number",
     .head = {{"run", "session.id", MCP_NAME},
              {"steps", "steps.count", MCP_NUMBER},
              {"found by", "steps.source", MCP_WORD},
              {"median ms", "steps.median_ps", MCP_MS},
              {"median absolute deviation ms", "steps.mad_ps", MCP_MS}},
     .columns = {{"number", "number", MCP_NUMBER},
                 {"name", "name", MCP_NAME},
                 {"start ms", "start_ps", MCP_MS},
                 {"length ms", "dur_ps", MCP_MS},
                 {"compute ms", "breakdown.compute_ps", MCP_MS},
                 {"exposed communication ms", "breakdown.exposed_comm_ps", MCP_MS},
                 {"exposed copies ms", "breakdown.exposed_copy_ps", MCP_MS},
                 {"idle ms", "breakdown.idle_ps", MCP_MS},
                 {"slowest device", "device", MCP_NAME}}},
    {.name = "scope_tree",
     .title = "Time by part of the model",
     .about = "Device time by framework scope (jit(step)/transformer/layer_3/attn), one level of "
              "the tree at a time: the scopes below `path`, or the top level without it.",
     .command = {"report"},
     .args = {SESSION,
              HOST,
              {"path", "", MCP_TEXT, false, NULL,
               "the full path of a scope, from an earlier answer"}},
     .rows = "scopes",
     .head = {{"run", "session.id", MCP_NAME}},
     .columns = {{"path", "path", MCP_SAYING},
                 {"total ms, including scopes below", "total_ps", MCP_MS},
                 {"self ms", "self_ps", MCP_MS},
                 {"calls", "calls", MCP_NUMBER},
                 {"scopes below", "children", MCP_COUNT},
                 {"source", "source", MCP_NAME}}},
    {.name = "op_details",
     .title = "One op",
     .about = "Details of one op: distribution of its calls, bytes and FLOPs, scope and source "
              "line, and the time of its slowest call.",
     .command = {"top", "--top", "100000"},
     .args = {{"op", "", MCP_TEXT, true, NULL, "the name of the op, from top_ops"},
              SESSION,
              GROUP,
              WHERE,
              DEVICE,
              HOST},
     .rows = "ops",
     .only_at = "name",
     .only_arg = "op",
     .head = {{"run", "session.id", MCP_NAME}},
     .columns = {OP_COLUMNS,
                 {"min us per call", "min_ps", MCP_US},
                 {"p95 us per call", "p95_ps", MCP_US},
                 {"bytes", "bytes", MCP_NUMBER},
                 {"flops", "flops", MCP_NUMBER},
                 {"slowest call at ms", "slowest.start_ps", MCP_MS},
                 {"scope", "scope", MCP_NAME},
                 {"source", "source", MCP_NAME}}},
    {.name = "range",
     .title = "What ran between two times",
     .about =
         "The ops that ran between two times of a run, such as the times of a finding or step. "
         "With `where` host, the work of the host threads, which shows why a device was idle.",
     .command = {"top"},
     .args = {SESSION,
              {"window", "--window", MCP_TEXT, true, NULL,
               "START..END in ns, us, ms, s or m, such as 50ms..70ms"},
              HOST,
              WHERE,
              GROUP,
              DEVICE,
              LIMIT},
     .rows = "ops",
     .head = {WINDOW_HEAD},
     .columns = {OP_COLUMNS, {"scope", "scope", MCP_NAME}}},
    {.name = "memory",
     .title = "What holds memory",
     .about = "Memory of a run: the peak of each allocator, or the planned memory of each compiled "
              "program (HLO module); with `of` and `number`, what holds the peak of one of them. "
              "The rows of a peak add up to it. null: not in the profile.",
     .command = {"memory"},
     .args = {SESSION,
              HOST,
              {"of", "", MCP_CHOICE, false, "allocators|holders|programs|program_holders",
               "which rows: allocators (default), what holds the peak of one allocator (holders), "
               "programs, or the instructions that hold the peak of one program (program_holders)"},
              {"number", "", MCP_WHOLE, false, NULL,
               "the allocator or program of the holders, counted from 0 in the order of the list; "
               "default 0"}},
     .views = memory_views,
     .head = {{"run", "session.id", MCP_NAME},
              {"allocators", "memory.allocators", MCP_COUNT},
              {"programs", "memory_static", MCP_COUNT}}},
    {.name = "export_link",
     .title = "Links for a person",
     .about = "Command lines with which the user can open a run in a browser or export it for "
              "Perfetto. This tool writes nothing.",
     .command = {"list"},
     .args = {{"session", "", MCP_TEXT, false, NULL,
               "the run: its id from list_sessions; default: the latest run"}},
     .links = true},
    {.name = "capture",
     .title = "Profile a running job",
     .about = "Captures a new profile of a running JAX or TensorFlow program that listens at "
              "`target` into the profile directory. It slows the program down a little and adds "
              "files; ask the user first. Then call findings or compare.",
     .command = {"capture"},
     .args = {{"target", NULL, MCP_TEXT, true, NULL, "HOST:PORT of the program's profiler server"},
              {"duration", "--duration", MCP_TEXT, false, NULL, "such as 2s or 500ms; default 2s"}},
     .head = {{"event", "event", MCP_WORD}, {"run", "run", MCP_NAME}, {"why", "why", MCP_NAME}},
     .writes = true},
    {0}};

const mcp_tool *mcp_tool_named(const char *name, const mcp_options *o)
{
    for (const mcp_tool *t = mcp_tools; t->name; t++)
        if (!strcmp(t->name, name) && (o->allow_capture || !t->writes))
            return t;
    return NULL;
}

static void put_property(json_t *all, json_t *needed, const mcp_arg *a)
{
    json_t *p = json_pack("{ss ss}", "type", a->type == MCP_WHOLE ? "integer" : "string",
                          "description", a->help);
    if (a->type == MCP_WHOLE)
        json_object_set_new(p, "minimum", json_integer(0));
    if (a->type == MCP_CHOICE) {
        json_t *words = json_array();
        vp_str in = vp_str_of(a->choices), word;
        while (in.n && vp_take_until(&in, '|', in.n, &word))
            json_array_append_new(words, json_stringn(word.p, word.n));
        json_object_set_new(p, "enum", words);
    }
    if (a->needed)
        json_array_append_new(needed, json_string(a->name));
    json_object_set_new(all, a->name, p);
}

static const mcp_arg cursor_arg = {
    "cursor", "",   MCP_TEXT,
    false,    NULL, "next_cursor of the previous answer, to get the following rows"};
static const mcp_arg bytes_arg = {
    "max_bytes", "",   MCP_WHOLE,
    false,       NULL, "maximum size of the answer in bytes, from 2048 to 65536; default 4096"};

json_t *mcp_tool_object(const mcp_tool *t)
{
    json_t *all = json_object(), *needed = json_array();
    for (const mcp_arg *a = t->args; a->name; a++)
        put_property(all, needed, a);
    put_property(all, needed, &cursor_arg);
    put_property(all, needed, &bytes_arg);
    return json_pack("{ss ss ss s{ss so so sb} s{sb sb sb sb}}", "name", t->name, "title", t->title,
                     "description", t->about, "inputSchema", "type", "object", "properties", all,
                     "required", needed, "additionalProperties", 0, "annotations", "readOnlyHint",
                     !t->writes, "destructiveHint", 0, "idempotentHint", !t->writes,
                     "openWorldHint", t->writes);
}

static const mcp_arg *arg_named(const mcp_tool *t, const char *name)
{
    for (const mcp_arg *a = t->args; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    return !strcmp(name, "cursor") ? &cursor_arg : !strcmp(name, "max_bytes") ? &bytes_arg : NULL;
}

static bool is_choice(const char *choices, vp_str value)
{
    vp_str in = vp_str_of(choices), word;
    while (in.n && vp_take_until(&in, '|', in.n, &word))
        if (vp_str_eq(word, value))
            return true;
    return false;
}

static int check_arg(const mcp_arg *a, json_t *value)
{
    if (a->type == MCP_WHOLE)
        return json_is_integer(value) && json_integer_value(value) >= 0
                   ? 0
                   : vp_fail(VP_EARG, "%s: must be a whole number", a->name);
    if (!json_is_string(value) || !json_string_length(value) ||
        json_string_length(value) > VALUE_MAX ||
        strlen(json_string_value(value)) != json_string_length(value))
        return vp_fail(VP_EARG, "%s: must be a string of 1 to %u bytes", a->name, VALUE_MAX);
    if (a->type == MCP_CHOICE && !is_choice(a->choices, vp_str_of(json_string_value(value))))
        return vp_fail(VP_EARG, "%s: must be one of %s", a->name, a->choices);
    return 0;
}

int mcp_check_args(const mcp_tool *t, json_t *args)
{
    const char *name;
    json_t *value;
    if (args && !json_is_object(args))
        return vp_fail(VP_EARG, "arguments: must be an object");
    json_object_foreach(args, name, value)
    {
        const mcp_arg *a = arg_named(t, name);
        if (!a)
            return vp_fail(VP_EARG, "unknown argument of %s; see its inputSchema", t->name);
        VP_TRY(check_arg(a, value));
    }
    for (const mcp_arg *a = t->args; a->name; a++)
        if (a->needed && !json_object_get(args, a->name))
            return vp_fail(VP_EARG, "%s: missing argument %s", t->name, a->name);
    value = json_object_get(args, "max_bytes");
    if (value &&
        (json_integer_value(value) < BYTES_LEAST || json_integer_value(value) > BYTES_MOST))
        return vp_fail(VP_EARG, "max_bytes: must be from %d to %d", BYTES_LEAST, BYTES_MOST);
    return 0;
}
