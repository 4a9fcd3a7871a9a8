#include "trace/analyze/comm/comm.h"

#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/hlo_text.h"

const char *comm_name(comm_kind k)
{
    static const char *const names[COMM_KINDS] = {
        "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
        "broadcast",  "reduce",     "send-recv",      "other"};
    return names[k];
}

/* Words in names, ignoring case, '-', '_' and blanks. The first row that occurs anywhere in the
 * name is used. */
static const struct {
    const char *word;
    comm_kind kind;
} words[] = {{"reducescatter", COMM_REDUCE_SCATTER},
             {"allreduce", COMM_ALL_REDUCE},
             {"allgather", COMM_ALL_GATHER},
             {"alltoall", COMM_ALL_TO_ALL},
             {"crossdevicereduce", COMM_ALL_REDUCE},
             {"collectivepermute", COMM_PERMUTE},
             {"ppermute", COMM_PERMUTE},
             {"broadcast", COMM_BROADCAST},
             {"sendrecv", COMM_SEND_RECV},
             {"psum", COMM_ALL_REDUCE},
             {"pmax", COMM_ALL_REDUCE},
             {"pmin", COMM_ALL_REDUCE},
             {"deepep", COMM_ALL_TO_ALL},
             {"dpsk::ep::", COMM_ALL_TO_ALL}};

/* Words that are used only in names of known collectives. */
static const struct {
    const char *word;
    comm_kind kind;
} short_words[] = {{"send", COMM_SEND_RECV}, {"recv", COMM_SEND_RECV}, {"reduce", COMM_REDUCE}};

/* True if s begins with a word like "allreduce" after removing its separators. */
static bool word_here(vp_str s, const char *word)
{
    size_t i = 0;
    for (; *word; word++, i++) {
        while (i < s.n && (s.p[i] == '-' || s.p[i] == '_' || s.p[i] == ' '))
            i++;
        if (i >= s.n || vp_lower(s.p[i]) != *word)
            return false;
    }
    return true;
}

static bool has_comm_word(vp_str s, const char *word)
{
    for (size_t i = 0; i < s.n; i++)
        if (word_here(vp_str_skip(s, i), word))
            return true;
    return false;
}

static comm_kind comm_kind_in_text(vp_str s)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_comm_word(s, words[i].word))
            return words[i].kind;
    for (size_t i = 0; i < sizeof short_words / sizeof *short_words; i++)
        if (has_comm_word(s, short_words[i].word))
            return short_words[i].kind;
    return COMM_OTHER;
}

comm_kind comm_kind_of(vp_str hlo, vp_str name)
{
    comm_kind k = comm_kind_in_text(hlo);
    return k != COMM_OTHER ? k
                           : comm_kind_in_text(vp_str_head(name, vp_str_find(name, VP_STR("("))));
}

comm_kind comm_of(const trace *t, const trace_kind *k)
{
    vp_str own = cl_hlo(t, k);
    return comm_kind_of(own.n ? own : trace_str(t, k->hlo_opcode), trace_str(t, k->name));
}

static bool is_start(vp_str opcode)
{
    return vp_str_ends(opcode, VP_STR("-start"));
}

/* The output in a shape: a "-start" has (inputs, outputs, …) where the plain op has the outputs,
 * except all-reduce. */
static vp_str output_of(vp_str shape, bool start)
{
    vp_str second = hlo_element(shape, 1);
    return start && second.n ? second : shape;
}

static int64_t multiply_known_bytes(int64_t bytes, int64_t n)
{
    int64_t out;
    bool known = bytes >= 0 && n > 0 && !__builtin_mul_overflow(bytes, n, &out);
    return known ? out : VP_UNKNOWN;
}

/* Payload of a call (docs/reference/metrics.md#collectives): of a reduce-scatter its input, or
 * where the text does not show the operands' shapes its output times the participants; of a send
 * what it sends; else the output. */
int64_t comm_payload_of(comm_kind kind, vp_str text, vp_str shape, int64_t group_size)
{
    hlo_text h = {shape, VP_STR_NONE, VP_STR_NONE};
    bool whole = text.n && hlo_split(&h, text);
    bool start = whole && is_start(h.opcode), done = vp_str_ends(h.opcode, VP_STR("-done"));
    if (kind == COMM_REDUCE_SCATTER) {
        int64_t in = whole && !done ? hlo_operand_bytes(h.operands) : VP_UNKNOWN;
        return in >= 0 ? in
                       : multiply_known_bytes(hlo_bytes(output_of(h.shape, start)), group_size);
    }
    if (kind == COMM_SEND_RECV && vp_str_starts(h.opcode, VP_STR("send")))
        return hlo_bytes(hlo_element(h.shape, 0));
    return hlo_bytes(output_of(h.shape, start && kind != COMM_ALL_REDUCE));
}

int64_t comm_payload(const trace *t, const trace_kind *k)
{
    bool kernel = !cl_hlo(t, k).n && !k->hlo_opcode;
    if (kernel) /* the library's own figure; `bytes` of XLA's ops is all memory traffic */
        return k->bytes >= 0 ? k->bytes : VP_UNKNOWN;
    return comm_payload_of(comm_of(t, k), trace_str(t, k->long_name), trace_str(t, k->shape),
                           k->group_size);
}
