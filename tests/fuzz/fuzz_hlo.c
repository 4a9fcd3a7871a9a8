/* Any bytes as an HLO proto: whatever parses answers for every name that occurs in it, and a second
 * time the same. Names are taken from the proto by a walk of its own, two levels down. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/base/pb.h"
#include "trace/read/semantics/hlo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static bool same(const hlo_instruction *a, const hlo_instruction *b)
{
    return vp_str_eq(a->op_name, b->op_name) && vp_str_eq(a->opcode, b->opcode) &&
           vp_str_eq(a->source, b->source) && vp_str_eq(a->shape, b->shape);
}

static void ask(hlo_module *m, vp_str name)
{
    hlo_instruction first, second;
    if (hlo_module_find(m, name, &first) <= 0)
        return;
    need(hlo_module_find(m, name, &second) == 1 && same(&first, &second));
    need(first.source.n == 0 || memchr(first.source.p, ':', first.source.n));
}

/* Every text of a computation's instructions, as if it were a name. */
static void ask_for_all(hlo_module *m, vp_str computation)
{
    vp_pb r = vp_pb_of(computation), inner;
    vp_pb_field f, g;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number != 2 || f.wire != VP_PB_LEN)
            continue;
        inner = vp_pb_of(f.data);
        while (vp_pb_next(&inner, &g) > 0)
            if (g.wire == VP_PB_LEN && g.number <= 2)
                ask(m, g.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hlo_module *m = NULL;
    vp_str all = {(const char *)data, n};
    vp_pb r = vp_pb_of(all), module;
    vp_pb_field f, g;
    if (hlo_module_parse(&m, all) < 0)
        return 0;
    need(hlo_module_name(m).n <= n);
    ask(m, VP_STR_NONE);
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number != 1 || f.wire != VP_PB_LEN)
            continue;
        module = vp_pb_of(f.data);
        while (vp_pb_next(&module, &g) > 0)
            if (g.number == 3 && g.wire == VP_PB_LEN)
                ask_for_all(m, g.data);
    }
    hlo_module_free(m);
    return 0;
}
