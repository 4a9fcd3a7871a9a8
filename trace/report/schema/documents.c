#include "trace/report/schema/documents.h"

#include <string.h>

#include "trace/analyze/result/result_words.h"
#include "trace/report/data/field_macros.h"
#include "trace/report/labels/view_words.h"
#include "trace/report/labels/words.h"

/* ---- Documents ---- */

static const rep_field tool_fields[] = {
    {.key = "name", .type = REP_TEXT, .needed = true, .about = "Always `view_profile`."},
    {.key = "version", .type = REP_TEXT, .needed = true, .about = "Version of the program."},
    {END("tool", "The program that wrote the document.")},
};

/* rep_json_head writes these, and put_report writes `complete`. */
static const rep_field first_fields[] = {
    {.key = "schema", .type = REP_TEXT, .needed = true, .about = "Name and version of the schema."},
    {.key = "tool",
     .type = REP_OBJECT,
     .fields = tool_fields,
     .about = "The program that wrote the document."},
    {0},
};

static const rep_field complete_fields[] = {
    {.key = "complete",
     .type = REP_BOOL,
     .about = "True if no row is left out. Only such a report can be merged or compared."},
    {0},
};

const rep_document rep_documents[] = {
    {"report",
     "view_profile.report/1",
     "view_profile report",
     "The analysis of a run, as `view_profile report --format json` writes it.",
     {{first_fields, false},
      {rep_head_fields, false},
      {complete_fields, false},
      {rep_devices_fields, false},
      {rep_ops_fields, false},
      {rep_scopes_fields, true},
      {rep_tail_fields, true},
      {rep_memory_fields, true},
      {rep_quality_fields, true},
      {rep_findings_fields, true}}},
    {"findings",
     "view_profile.findings/1",
     "view_profile findings",
     "The findings of a run, as `view_profile findings --format json` writes them.",
     {{first_fields, false}, {rep_head_fields, false}, {rep_findings_fields, false}}},
    {"memory",
     "view_profile.memory/1",
     "view_profile memory",
     "The memory of a run, as `view_profile memory --format json` writes it.",
     {{first_fields, false},
      {rep_head_fields, false},
      {rep_memory_fields, false},
      {rep_quality_fields, false},
      {rep_findings_fields, false}}},
    {"op",
     "view_profile.op/1",
     "view_profile op",
     "One op in detail, as the server answers `/api/v1/session/ID/op`.",
     {{first_fields, false},
      {rep_head_fields, false},
      {rep_op_row_fields, false},
      {rep_op_details_fields, false}}},
    {"compare",
     "view_profile.compare/1",
     "view_profile compare",
     "The difference of two runs, as `view_profile compare --format json` writes it.",
     {{first_fields, false}, {rep_compare_fields, false}}},
    {"history",
     "view_profile.history/1",
     "view_profile history",
     "One line of a history, as `view_profile compare --append` and `watch` write it.",
     {{first_fields, false}, {rep_history_fields, false}}},
    {"trend",
     "view_profile.trend/1",
     "view_profile trend",
     "Several runs over time, as `view_profile trend --format json` writes them.",
     {{first_fields, false}, {rep_trend_fields, false}}},
    {.name = NULL},
};

/* ---- Tables ---- */

static const rep_field *last_table_row(const rep_field *fields)
{
    while (fields->key)
        fields++;
    return fields;
}

const char *rep_table_name(const rep_field *fields)
{
    return last_table_row(fields)->name;
}

const char *rep_table_about(const rep_field *fields)
{
    return last_table_row(fields)->about;
}

static bool field_has_table(const rep_field *f)
{
    return f->type == REP_OBJECT || f->type == REP_LIST || f->type == REP_BY_DEVICE;
}

static bool tables_contain(const rep_tables *t, const rep_field *fields)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i] == fields)
            return true;
    return false;
}

/* Breadth first, so that the page goes from the document to its parts. */
static void tables_add(rep_tables *t, const rep_field *fields)
{
    for (const rep_field *f = fields; f->key; f++) {
        const rep_field *table = f->type == REP_DELTAS ? rep_delta_fields
                                 : field_has_table(f)  ? f->fields
                                                       : NULL;
        if (table && !tables_contain(t, table) && t->n < sizeof t->list / sizeof *t->list)
            t->list[t->n++] = table;
    }
}

void rep_tables_of(rep_tables *t, const rep_document *d)
{
    t->n = 0;
    for (const rep_part *part = d->parts; part->fields; part++)
        tables_add(t, part->fields);
    for (size_t i = 0; i < t->n; i++)
        tables_add(t, t->list[i]);
}

/* ---- Units and null ---- */

static bool key_ends_with(const char *key, const char *end)
{
    size_t n = strlen(key), m = strlen(end);
    return n >= m && !strcmp(key + n - m, end);
}

static bool is_numeric_field(const rep_field *f)
{
    return f->type == REP_COUNT || f->type == REP_TIME || f->type == REP_INTEGER ||
           f->type == REP_ROUNDED || f->type == REP_NUMBER || f->type == REP_COUNTS;
}

const char *rep_field_unit(const rep_field *f)
{
    /* The first match. */
    static const struct {
        const char *end, *unit;
    } units[] = {
        {"_ps", "ps"},
        {"_ns", "ns"},
        {"bytes", "bytes"},
        {"gb_per_s", "GB/s"},
        {"gflop_per_s", "GFLOP/s"},
        {"_gflops", "GFLOP/s"},
        {"_mb_s", "MB/s"},
        {"flop_per_byte", "FLOP/byte"},
        {"flops", "FLOP"},
        {"_milli", "1/1000"},
    };
    if (f->unit)
        return *f->unit ? f->unit : NULL;
    if (f->type == REP_BY_WORD)
        return "ps";
    for (size_t i = 0; is_numeric_field(f) && i < sizeof units / sizeof *units; i++)
        if (key_ends_with(f->key, units[i].end))
            return units[i].unit;
    return f->type == REP_COUNT ? "count" : NULL;
}

const char *rep_field_null(const rep_field *f)
{
    if (f->null)
        return f->null;
    if (f->later)
        return "in reports of older versions";
    switch ((rep_field_type)f->type) {
    case REP_TEXT:
    case REP_COUNT:
    case REP_DEVICE:
        return f->needed ? NULL : "unknown";
    case REP_TIME:
    case REP_ID:
    case REP_ROUNDED:
    case REP_NUMBER:
        return "unknown";
    case REP_INTEGER:
    case REP_BOOL:
    case REP_WORD:
    case REP_BY_WORD:
    case REP_OBJECT:
    case REP_LIST:
    case REP_COUNTS:
    case REP_TEXTS:
    case REP_BY_DEVICE:
    case REP_CHILDREN:
    case REP_PAIRS:
    case REP_DELTAS:
        return NULL;
    }
    return NULL;
}

/* ---- Words ---- */

static const char *const policy_about[] = {
    "One step.",
    "The time that `--window` asked for.",
    "From the first to the last op of any device.",
    "From the first to the last event, in a profile without devices.",
};
static const char *const clock_about[] = {
    "The clock of the device.",
    "The clock of the host, to which device times are aligned.",
};
static const char *const group_about[] = {
    "Class, category and normalized name.",
    "Category.",
    "Scope.",
    "Source line.",
    "Module.",
    "Name as the profile has it, and launch configuration.",
    "Scope, and then as by name.",
    "Innermost framework operator that launched the op.",
    "Outermost framework operator that launched the op: the one that the program called.",
};
static const char *const depth_about[] = {
    "Everything was analyzed.",
    "Only the op tables were made; fields marked *not full* are null.",
};
static const char *const where_about[] = {
    "Ops of devices.",
    "Work of host threads.",
};
static const char *const class_about[] = {
    "Compute.",
    "Communication between devices.",
    "Copies.",
};
static const char *const device_kind_about[] = {
    "A TPU core.",
    "A GPU.",
    "The CPU as a device of XLA.",
    "Another device, or a host process in a profile without devices.",
};
static const char *const activity_about[] = {
    "Compilation.",
    "Data is loaded, made or waited for.",
    "Garbage collection of Python.",
    "A checkpoint is written, or a file is flushed to disk.",
    "A function that a device calls.",
};
static const char *const torch_about[] = {
    "A loop reads values one by one.",
    "A loop calls small operators.",
    "Operators compute in double precision.",
    "Copies change the layout of tensors.",
    "Backward passes compute gradients that are not used.",
    "An optimizer updates parameters one by one.",
};
static const char *const cause_about[VP_CAUSES] = {
    [VP_CAUSE_COMPILE] = "The launching thread was compiling.",
    [VP_CAUSE_INPUT] = "The launching thread waited for input.",
    [VP_CAUSE_CALLBACK] = "The launching thread ran a callback from the device.",
    [VP_CAUSE_SYNC] = "The launching thread was in a blocking call.",
    [VP_CAUSE_TRANSFER] = "The launching thread was busy with a copy.",
    [VP_CAUSE_HOST] = "The launching thread was late for another reason.",
    [VP_CAUSE_CALL] = "The time is inside the launch call.",
    [VP_CAUSE_LATENCY] = "The op was launched and had not started.",
    [VP_CAUSE_PEER] = "The launching thread waited for another device.",
    [VP_CAUSE_UNKNOWN] = "No event links the gap to the host.",
};
static const char *const cell_about[VP_CELLS] = {
    [VP_CELL_USEFUL] = "Time of the FLOP of matmuls and convolutions at peak rate.",
    [VP_CELL_RECOMPUTE] = "The same for rematerialized work.",
    [VP_CELL_PAD] = "Time of FLOP that tiles add to the shapes, an estimate.",
    [VP_CELL_INEFFICIENCY] = "Remaining time of matmuls and convolutions.",
    [VP_CELL_MEM_EXCESS] = "Time of the bytes of matmuls and convolutions beyond their FLOP.",
    [VP_CELL_NM_MEMORY] = "Time of the bytes of other ops at full bandwidth.",
    [VP_CELL_NM_EXCESS] = "Remaining time of other ops.",
    [VP_CELL_UNKNOWN] = "Time of ops whose cost is unknown.",
};
static const char *const dtype_about[VP_DTYPES] = {
    "Unknown.",  "64-bit float.", "32-bit float.", "32-bit float on tensor cores.",
    "bfloat16.", "16-bit float.", "8-bit float.",  "8-bit integer.",
};
static const char *const peak_about[] = {
    "Unknown.",
    "The profile.",
    "The table of chips, by the name of the device.",
    "The table of chips, by capability, cores and memory.",
    "Cores and clock of the device.",
    "The table of chips, by the option `--chip`.",
    "The options `--peak-tflops` and `--peak-gb-s`.",
};
static const char *const cost_about[] = {
    "Unknown.",
    "Statistics of the op in the profile.",
    "The shapes of the HLO instruction.",
    "The shapes of the framework's operator.",
};
static const char *const bound_about[] = {
    "The FLOP rate.",
    "The memory bandwidth.",
};
static const char *const split_about[] = {
    "Shape.",
    "Layout or memory space; the shapes are equal.",
    "Scope.",
    "Source line.",
};
static const char *const step_source_about[] = {
    "No steps.",
    "The line *Steps* of the profiler.",
    "`ProfilerStep#N` of PyTorch.",
    "Annotations of the program, such as `StepTraceAnnotation`.",
    "Repeated executions of the longest module.",
    "Annotations of the program that repeat.",
    "Calls of `Optimizer.step`: from the end of one to the end of the next.",
    "Annotations chosen with `--steps-by`.",
};
static const char *const step_class_about[] = {
    "About as long as most steps.",
    "Longer than most steps.",
    "Shorter than most steps.",
};
static const char *const direction_about[] = {
    "Host to device.", "Device to host.", "Within one device.",    "Device to device.",
    "Infeed.",         "Outfeed.",        "Fill with a constant.", "Other copies.",
};
static const char *const buffer_kind_about[] = {
    "Argument.", "Result.", "Constant.", "Temporary.", "Smaller buffers together.",
};
static const char *const severity_about[] = {
    "No figure is affected.",
    "Some figures may be affected.",
    "A file or part of it is missing.",
};
static const char *const status_about[] = {
    "The rule fired.",
    "The rule fired, and findings in `explained_by` claim its time.",
    "The figure is below the threshold.",
    "The profile lacks what the rule needs.",
};
static const char *const verdict_about[] = {
    "B is slower than A.",
    "B is faster than A.",
    "The difference is within the noise.",
    "The runs have too few steps to judge the difference.",
};
static const char *const level_about[] = {
    "A share of the window from 0.5%.",
    "A share of the window from 3%.",
    "A share of the window from 10%.",
};

#define WORDS(words_, name_, about_)                                                               \
    {                                                                                              \
        words_, name_, about_, sizeof about_ / sizeof *about_                                      \
    }
const rep_word_list rep_word_lists[] = {
    WORDS(rep_policy_words, "window policy", policy_about),
    WORDS(rep_clock_words, "clock", clock_about),
    WORDS(rep_group_words, "group", group_about),
    WORDS(rep_depth_words, "depth", depth_about),
    WORDS(rep_where_words, "subject", where_about),
    WORDS(rep_kind_words, "device kind", device_kind_about),
    WORDS(result_cause_words, "cause", cause_about),
    WORDS(result_activity_words, "kind of activity", activity_about),
    WORDS(result_torch_words, "kind of saving", torch_about),
    WORDS(result_cell_words, "use of compute time", cell_about),
    WORDS(result_dtype_words, "data type", dtype_about),
    WORDS(rep_peak_words, "source of a peak", peak_about),
    WORDS(rep_class_words, "op class", class_about),
    WORDS(rep_split_words, "kind of split", split_about),
    WORDS(rep_cost_words, "source of a cost", cost_about),
    WORDS(rep_bound_words, "resource", bound_about),
    WORDS(rep_step_source_words, "source of steps", step_source_about),
    WORDS(rep_step_class_words, "step class", step_class_about),
    WORDS(rep_direction_words, "direction", direction_about),
    WORDS(rep_buffer_kind_words, "buffer kind", buffer_kind_about),
    WORDS(rep_severity_words, "problem severity", severity_about),
    WORDS(rep_status_words, "finding status", status_about),
    WORDS(rep_verdict_words, "verdict", verdict_about),
    WORDS(result_level_words, "finding severity", level_about),
    {.words = NULL},
};

const rep_word_list *rep_words_of(const rep_field *f)
{
    if (f->type != REP_WORD && f->type != REP_BY_WORD && f->type != REP_DELTAS)
        return NULL;
    for (const rep_word_list *l = rep_word_lists; l->words; l++)
        if (l->words == f->words)
            return l;
    return NULL;
}
