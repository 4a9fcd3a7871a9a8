/* trace/read/semantics/hlo: scopes that instructions without one inherit from their users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/hlo_maker.h"
#include "trace/read/semantics/hlo.h"
#include "trace/read/semantics/hlo_fields.h"

static void put_instruction(vp_buf *computation, int64_t id, const char *name, const char *scope,
                            const int64_t *operands, size_t operand_count)
{
    vp_buf in = hm_message(), meta = hm_message();
    hm_text(&in, HLO_INSTRUCTION_NAME, name);
    hm_text(&in, HLO_INSTRUCTION_OPCODE, "copy");
    vp_pb_put_u64(&in, HLO_INSTRUCTION_ID, (uint64_t)id);
    hm_numbers(&in, HLO_INSTRUCTION_OPERAND_IDS, operands, operand_count);
    if (scope)
        hm_text(&meta, OP_METADATA_OP_NAME, scope);
    hm_into(&in, HLO_INSTRUCTION_METADATA, &meta);
    hm_into(computation, HLO_COMPUTATION_INSTRUCTIONS, &in);
}

/* a → b → dot, a → add; unused and cycle have no user with a scope; far is of another computation.
 */
static vp_buf make_proto(void)
{
    vp_buf c = hm_message(), other = hm_message(), m = hm_message(), all = hm_message();
    put_instruction(&c, 1, "a", NULL, NULL, 0);
    put_instruction(&c, 2, "b", NULL, (int64_t[]){1}, 1);
    put_instruction(&c, 3, "dot", "jit(f)/dense/dot", (int64_t[]){2, 9, 77}, 3);
    put_instruction(&c, 4, "add", "jit(f)/add", (int64_t[]){1, 3}, 2);
    put_instruction(&c, 5, "unused", NULL, (int64_t[]){4}, 1);
    put_instruction(&c, 6, "cycle", NULL, (int64_t[]){6, -1}, 2);
    put_instruction(&other, 9, "far", NULL, NULL, 0);
    vp_pb_put_u64(&c, HLO_COMPUTATION_ID, 1);
    vp_pb_put_u64(&other, HLO_COMPUTATION_ID, 2);
    hm_into(&m, HLO_MODULE_COMPUTATIONS, &c);
    hm_into(&m, HLO_MODULE_COMPUTATIONS, &other);
    hm_into(&all, HLO_HLO_MODULE, &m);
    return all;
}

static void assert_scope(hlo_module *m, const char *name, const char *scope)
{
    hlo_instruction in;
    assert_int_equal(hlo_module_find(m, vp_str_of(name), &in), 1);
    assert_int_equal(in.op_name.n, strlen(scope));
    assert_memory_equal(in.op_name.p ? in.op_name.p : "", scope, strlen(scope));
}

static void instructions_inherit_the_scope_of_their_first_user(void **state)
{
    (void)state;
    hlo_module *m;
    vp_buf proto = make_proto();
    assert_int_equal(hlo_module_parse(&m, vp_buf_view(&proto)), 0);
    assert_scope(m, "a", "jit(f)/dense/dot");
    assert_scope(m, "b", "jit(f)/dense/dot");
    assert_scope(m, "dot", "jit(f)/dense/dot");
    assert_scope(m, "add", "jit(f)/add");
    assert_scope(m, "unused", "");
    assert_scope(m, "cycle", "");
    assert_scope(m, "far", "");
    hlo_module_free(m);
    vp_buf_free(&proto);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_inherit_the_scope_of_their_first_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
