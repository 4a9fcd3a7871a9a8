#include "trace/read/pickle/pickle_machine.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/pickle/pickle_input.h"
#include "trace/read/pickle/pickle_memo.h"
#include "trace/read/pickle/pickle_ops.h"

/* Values on the stack, and marks among them. A pickler emits 1,000 items at a time, and consecutive
 * unused values count as one, so real snapshots need some hundreds. */
#define STACK_MAX 10000u
#define MARKS_MAX 1000u
/* Bytes of a string; real ones are names and paths. */
#define STRING_MAX (UINT64_C(16) << 20)

struct pk_machine {
    pk_client client;
    pk_input in;
    vp_arena arena;
    vp_intern names;
    pk_memo memo;
    pk_value *stack;
    size_t n, cap;
    uint32_t *marks; /* their positions on the stack */
    size_t mark_count, mark_cap;
    int64_t at; /* offset of the current opcode */
    bool stopped;
};

typedef int op_fn(pk_machine *m);

static uint64_t load_little_endian(const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

/* Reads n bytes (at most RD_HEADROOM). 0 or less: the pickle is truncated, or reading failed. */
static int machine_take_bytes(pk_machine *m, size_t n, const unsigned char **p)
{
    int rc = pk_input_need(&m->in, n);
    if (rc <= 0)
        return rc;
    *p = m->in.p;
    m->in.p += n;
    return 1;
}

/* ---- The stack ---- */

static size_t floor_of(const pk_machine *m)
{
    return m->mark_count ? m->marks[m->mark_count - 1] + 1u : 0;
}

static int machine_push(pk_machine *m, pk_value v)
{
    if (m->n >= STACK_MAX)
        return vp_fail(VP_ELIMIT, "the pickle is nested too deep: more than %u values on the stack",
                       STACK_MAX);
    VP_TRY(vp_grow(&m->stack, &m->cap, m->n + 1, sizeof *m->stack, STACK_MAX));
    m->stack[m->n++] = v;
    return 1;
}

static int push_other(pk_machine *m)
{
    return machine_push(m, (pk_value){.type = PK_A_OTHER, .id = 1});
}

static int push_number(pk_machine *m, int64_t v)
{
    return machine_push(m, (pk_value){.type = PK_A_NUMBER, .v = v});
}

static int stack_underflow(void)
{
    return vp_fail(VP_ECORRUPT, "pickle stack underflow");
}

/* The top value above the last mark; NULL if there is none. */
static pk_value *top_value(pk_machine *m)
{
    return m->n > floor_of(m) ? &m->stack[m->n - 1] : NULL;
}

/* Marks a container as complete. */
static void close_value(pk_machine *m, const pk_value *v)
{
    uint32_t id;
    if ((v->type == PK_A_LIST || v->type == PK_A_DICT) && v->v >= 0 &&
        pk_memo_get(&m->memo, (uint32_t)v->v, &id) == PK_MEMO_OPEN)
        pk_memo_change(&m->memo, (uint32_t)v->v, PK_MEMO_OTHER, 0);
}

/* Removes n values from the stack. */
static int machine_drop_values(pk_machine *m, uint32_t n)
{
    while (n--) {
        pk_value *v = top_value(m);
        if (!v)
            return stack_underflow();
        if (v->type == PK_A_OTHER && v->id > 1) {
            v->id--;
            continue;
        }
        close_value(m, v);
        m->n--;
    }
    return 1;
}

static void cut_to(pk_machine *m, size_t n)
{
    while (m->n > n)
        close_value(m, &m->stack[--m->n]);
}

static int pop_mark(pk_machine *m, size_t *first)
{
    if (!m->mark_count)
        return vp_fail(VP_ECORRUPT, "pickle mark not found");
    *first = m->marks[--m->mark_count] + 1u;
    return 1;
}

/* Merges consecutive unused values in a list. */
static void join_others(pk_machine *m)
{
    size_t floor = floor_of(m);
    if (floor < 2 || m->n < floor + 2 || m->stack[floor - 2].type != PK_A_LIST)
        return;
    pk_value *below = &m->stack[m->n - 2];
    if (below->type == PK_A_OTHER && !below->v && below->id < UINT32_MAX) {
        below->id++;
        m->n--;
    }
}

/* ---- Containers ---- */

/* Role of the value that follows a key on the stack: in the dict below the last mark, or, if items
 * come one by one, in the one below the key. */
static uint8_t role_by_key(const pk_machine *m, size_t floor, bool dict)
{
    const pk_value *s = m->stack, *key = &s[m->n - 1];
    if (floor >= 2 && s[floor - 2].type == PK_A_DICT && (m->n - floor) % 2)
        return m->client.role(s[floor - 2].role, key->id, dict);
    if (m->n >= floor + 2 && key[-1].type == PK_A_DICT)
        return m->client.role(key[-1].role, key->id, dict);
    return PK_ROLE_NONE;
}

/* The same for an item of the list below the last mark; *index is the number of preceding items. */
static uint8_t role_in_list(const pk_machine *m, size_t floor, bool dict, uint32_t *index)
{
    const pk_value *s = m->stack, *parent = floor >= 2 ? &s[floor - 2] : NULL;
    if (!parent || parent->type != PK_A_LIST || !parent->role)
        return PK_ROLE_NONE;
    *index = parent->id;
    for (size_t i = floor; i < m->n; i++)
        *index += s[i].type == PK_A_OTHER ? s[i].id : 1;
    return m->client.role(parent->role, 0, dict);
}

/* Role of the container that is about to be opened. */
static uint8_t role_here(const pk_machine *m, bool dict, uint32_t *index)
{
    size_t n = m->n, floor = floor_of(m);
    uint8_t role = PK_ROLE_NONE;
    *index = 0;
    if (!n)
        return dict ? PK_ROLE_ROOT : PK_ROLE_NONE;
    if (n > floor && m->stack[n - 1].type == PK_A_LIST) {
        role = m->client.role(m->stack[n - 1].role, 0, dict);
        *index = role ? m->stack[n - 1].id : 0;
    } else if (n > floor && m->stack[n - 1].type == PK_A_TEXT) {
        role = role_by_key(m, floor, dict);
    }
    return role ? role : role_in_list(m, floor, dict, index);
}

static int machine_open_container(pk_machine *m, bool dict)
{
    uint32_t index;
    pk_value v = {.type = dict ? PK_A_DICT : PK_A_LIST, .v = -1};
    v.role = role_here(m, dict, &index);
    if (!m->n && !dict)
        return vp_fail(VP_ECORRUPT, "the pickle is not a dict");
    if (v.role)
        VP_TRY(m->client.open(m->client.ctx, v.role, index, &v.id));
    return machine_push(m, v);
}

static int into_itself(void)
{
    return vp_fail(VP_ECORRUPT, "the pickle contains a recursive container");
}

/* Appends the stack's items first … n to the list below them. */
static int machine_append_items(pk_machine *m, size_t list, size_t first)
{
    pk_value *to = &m->stack[list];
    if (to->type != PK_A_LIST)
        return vp_fail(VP_ECORRUPT, "the pickle appends to a value that is not a list");
    for (size_t i = first; i < m->n; i++) {
        const pk_value *item = &m->stack[i];
        if (item->type == PK_A_OTHER && item->v == (int64_t)list + 1)
            return into_itself();
        if (to->role)
            VP_TRY(m->client.item(m->client.ctx, to->role, &to->id, item));
    }
    cut_to(m, list + 1);
    if (to->role == m->client.folded && to->v >= 0)
        pk_memo_change(&m->memo, (uint32_t)to->v, PK_MEMO_FOLDED, to->id);
    return 1;
}

/* Replaces a complete dict by the client's result. */
static int machine_close_dict(pk_machine *m, size_t at, size_t first)
{
    pk_value *d = &m->stack[at];
    uint32_t id = 0;
    bool record = d->role == m->client.record;
    VP_TRY(m->client.dict(m->client.ctx, d->role, &m->stack[first], (m->n - first) / 2, &id));
    cut_to(m, at + 1);
    if (d->v >= 0)
        pk_memo_change(&m->memo, (uint32_t)d->v, record ? PK_MEMO_RECORD : PK_MEMO_OTHER, id);
    m->n = at;
    if (record)
        return machine_push(m, (pk_value){.type = PK_A_RECORD, .id = id});
    VP_TRY(push_other(m));
    join_others(m);
    return 1;
}

static int set_items(pk_machine *m, size_t at, size_t first)
{
    pk_value *d = &m->stack[at];
    if (d->type != PK_A_DICT)
        return vp_fail(VP_ECORRUPT, "the pickle sets items of a value that is not a dict");
    if ((m->n - first) % 2)
        return vp_fail(VP_ECORRUPT, "the pickle has a key without a value");
    for (size_t i = first; i < m->n; i++)
        if (m->stack[i].type == PK_A_OTHER && m->stack[i].v == (int64_t)at + 1)
            return into_itself();
    if (d->role > PK_ROLE_ROOT)
        return machine_close_dict(m, at, first);
    cut_to(m, at + 1);
    return 1;
}

static int op_EMPTY_DICT(pk_machine *m)
{
    return machine_open_container(m, true);
}

static int op_EMPTY_LIST(pk_machine *m)
{
    return machine_open_container(m, false);
}

static int op_APPEND(pk_machine *m)
{
    return m->n < floor_of(m) + 2 ? stack_underflow() : machine_append_items(m, m->n - 2, m->n - 1);
}

static int op_SETITEM(pk_machine *m)
{
    return m->n < floor_of(m) + 3 ? stack_underflow() : set_items(m, m->n - 3, m->n - 2);
}

static int op_APPENDS(pk_machine *m)
{
    size_t first = 0;
    VP_TRY(pop_mark(m, &first));
    return first < 2 ? stack_underflow() : machine_append_items(m, first - 2, first);
}

static int op_SETITEMS(pk_machine *m)
{
    size_t first = 0;
    VP_TRY(pop_mark(m, &first));
    return first < 2 ? stack_underflow() : set_items(m, first - 2, first);
}

static int op_MARK(pk_machine *m)
{
    if (m->mark_count >= MARKS_MAX)
        return vp_fail(VP_ELIMIT, "the pickle is nested too deep: more than %u marks", MARKS_MAX);
    VP_TRY(vp_grow(&m->marks, &m->mark_cap, m->mark_count + 1, sizeof *m->marks, MARKS_MAX));
    m->marks[m->mark_count++] = (uint32_t)m->n;
    return machine_push(m, (pk_value){.type = PK_A_MARK});
}

/* ---- Values ---- */

static int op_NONE(pk_machine *m)
{
    return push_other(m);
}

static int op_NEWTRUE(pk_machine *m)
{
    return push_number(m, 1);
}

static int op_NEWFALSE(pk_machine *m)
{
    return push_number(m, 0);
}

static int op_BININT(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 4, &p);
    return rc > 0 ? push_number(m, (int32_t)load_little_endian(p, 4)) : rc;
}

static int op_BININT1(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 1, &p);
    return rc > 0 ? push_number(m, *p) : rc;
}

static int op_BININT2(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 2, &p);
    return rc > 0 ? push_number(m, (int64_t)load_little_endian(p, 2)) : rc;
}

/* Two's complement, lowest byte first. Numbers above 64 bits do not occur in snapshots. */
static int push_long(pk_machine *m, uint64_t n)
{
    const unsigned char *p;
    if (n > 8) {
        int rc = pk_input_skip(&m->in, n);
        return rc > 0 ? push_other(m) : rc;
    }
    int rc = machine_take_bytes(m, (size_t)n, &p);
    if (rc <= 0)
        return rc;
    uint64_t v = load_little_endian(p, (size_t)n);
    if (n && n < 8 && p[n - 1] & 0x80)
        v |= UINT64_MAX << (8 * n);
    return push_number(m, (int64_t)v);
}

static int op_LONG1(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 1, &p);
    return rc > 0 ? push_long(m, *p) : rc;
}

static int op_LONG4(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 4, &p);
    if (rc <= 0)
        return rc;
    int32_t n = (int32_t)load_little_endian(p, 4);
    return n < 0 ? vp_fail(VP_ECORRUPT, "invalid number of %d bytes in the pickle", n)
                 : push_long(m, (uint64_t)n);
}

static int op_BINFLOAT(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 8, &p);
    return rc > 0 ? push_other(m) : rc;
}

static int op_read_length(pk_machine *m, size_t width, uint64_t *n)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, width, &p);
    if (rc <= 0)
        return rc;
    *n = load_little_endian(p, width);
    return *n > STRING_MAX ? vp_fail(VP_ELIMIT, "string of %llu bytes in the pickle is too long",
                                     (unsigned long long)*n)
                           : 1;
}

static int push_text_operand(pk_machine *m, size_t width)
{
    const unsigned char *p;
    uint64_t n;
    vp_sid id;
    int rc = op_read_length(m, width, &n);
    if (rc <= 0)
        return rc;
    size_t kept = n < PK_TEXT_MAX ? (size_t)n : PK_TEXT_MAX;
    rc = machine_take_bytes(m, kept, &p);
    if (rc <= 0)
        return rc;
    VP_TRY(vp_intern_put(&m->names, (vp_str){(const char *)p, kept}, &id));
    rc = n > kept ? pk_input_skip(&m->in, n - kept) : 1;
    return rc > 0 ? machine_push(m, (pk_value){.type = PK_A_TEXT, .id = id}) : rc;
}

static int op_SHORT_BINUNICODE(pk_machine *m)
{
    return push_text_operand(m, 1);
}

static int op_BINUNICODE(pk_machine *m)
{
    return push_text_operand(m, 4);
}

static int op_BINUNICODE8(pk_machine *m)
{
    return push_text_operand(m, 8);
}

static int skip_bytes_operand(pk_machine *m, size_t width)
{
    uint64_t n;
    int rc = op_read_length(m, width, &n);
    if (rc > 0)
        rc = pk_input_skip(&m->in, n);
    return rc > 0 ? push_other(m) : rc;
}

static int op_SHORT_BINBYTES(pk_machine *m)
{
    return skip_bytes_operand(m, 1);
}

static int op_BINBYTES(pk_machine *m)
{
    return skip_bytes_operand(m, 4);
}

static int make_tuple(pk_machine *m, uint32_t n)
{
    VP_TRY(machine_drop_values(m, n));
    return push_other(m);
}

static int op_EMPTY_TUPLE(pk_machine *m)
{
    return make_tuple(m, 0);
}

static int op_TUPLE1(pk_machine *m)
{
    return make_tuple(m, 1);
}

static int op_TUPLE2(pk_machine *m)
{
    return make_tuple(m, 2);
}

static int op_TUPLE3(pk_machine *m)
{
    return make_tuple(m, 3);
}

static int op_POP_MARK(pk_machine *m)
{
    size_t first = 0;
    VP_TRY(pop_mark(m, &first));
    cut_to(m, first - 1);
    return 1;
}

static int op_TUPLE(pk_machine *m)
{
    VP_TRY(op_POP_MARK(m));
    return push_other(m);
}

static int op_POP(pk_machine *m)
{
    return m->mark_count && m->n == floor_of(m) ? op_POP_MARK(m) : machine_drop_values(m, 1);
}

static int op_DUP(pk_machine *m)
{
    const pk_value *v = top_value(m);
    if (!v)
        return stack_underflow();
    pk_value copy = *v;
    return copy.type == PK_A_LIST || copy.type == PK_A_DICT || copy.type == PK_A_OTHER
               ? push_other(m)
               : machine_push(m, copy);
}

/* ---- The memo ---- */

static int memo_store(pk_machine *m, uint32_t index)
{
    static const uint8_t kinds[] = {
        [PK_A_OTHER] = PK_MEMO_OTHER,   [PK_A_NUMBER] = PK_MEMO_OTHER,  [PK_A_TEXT] = PK_MEMO_TEXT,
        [PK_A_RECORD] = PK_MEMO_RECORD, [PK_A_FOLDED] = PK_MEMO_FOLDED, [PK_A_LIST] = PK_MEMO_OPEN,
        [PK_A_DICT] = PK_MEMO_OPEN,
    };
    pk_value *v = top_value(m);
    if (!v)
        return stack_underflow();
    pk_memo_kind kind = kinds[v->type];
    if (kind == PK_MEMO_OPEN)
        v->v = index;
    uint32_t id = kind == PK_MEMO_OPEN ? (uint32_t)m->n - 1 : kind == PK_MEMO_OTHER ? 0 : v->id;
    VP_TRY(pk_memo_put(&m->memo, index, kind, id));
    return 1;
}

static int op_MEMOIZE(pk_machine *m)
{
    return memo_store(m, m->memo.puts);
}

static int op_BINPUT(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 1, &p);
    return rc > 0 ? memo_store(m, *p) : rc;
}

static int op_LONG_BINPUT(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 4, &p);
    return rc > 0 ? memo_store(m, (uint32_t)load_little_endian(p, 4)) : rc;
}

/* A container that is still being filled must not contain itself; a container that waits to be
 * stored may be stored twice. */
static int get_open(pk_machine *m, uint32_t at)
{
    for (size_t i = 0; i < m->mark_count; i++)
        if (m->marks[i] == at + 1)
            return into_itself();
    return machine_push(m, (pk_value){.type = PK_A_OTHER, .id = 1, .v = (int64_t)at + 1});
}

static int memo_load(pk_machine *m, uint32_t index)
{
    static const uint8_t types[] = {
        [PK_MEMO_TEXT] = PK_A_TEXT, [PK_MEMO_RECORD] = PK_A_RECORD, [PK_MEMO_FOLDED] = PK_A_FOLDED};
    uint32_t id;
    pk_memo_kind kind = pk_memo_get(&m->memo, index, &id);
    if (kind == PK_MEMO_NOTHING)
        return vp_fail(VP_ECORRUPT, "the pickle uses memo entry %u, which is not set", index);
    if (kind == PK_MEMO_OPEN)
        return get_open(m, id);
    if (kind == PK_MEMO_OTHER)
        return push_other(m);
    return machine_push(m, (pk_value){.type = types[kind], .id = id});
}

static int op_BINGET(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 1, &p);
    return rc > 0 ? memo_load(m, *p) : rc;
}

static int op_LONG_BINGET(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 4, &p);
    return rc > 0 ? memo_load(m, (uint32_t)load_little_endian(p, 4)) : rc;
}

/* ---- Opcodes ---- */

static int op_PROTO(pk_machine *m)
{
    const unsigned char *p;
    int rc = machine_take_bytes(m, 1, &p);
    if (rc > 0 && *p > PK_PROTOCOL_MAX)
        return vp_fail(VP_EUNSUPPORTED, "unsupported pickle protocol %u (newer than %d)", *p,
                       PK_PROTOCOL_MAX);
    return rc;
}

/* Length of the next frame, which is only a hint. */
static int op_FRAME(pk_machine *m)
{
    const unsigned char *p;
    return machine_take_bytes(m, 8, &p);
}

static int op_STOP(pk_machine *m)
{
    if (m->mark_count || m->n != 1 || m->stack[0].type != PK_A_DICT)
        return vp_fail(VP_ECORRUPT, "the pickle does not end with a single dict");
    m->stopped = true;
    return 1;
}

/* Every opcode has a number: accepted ones first, then refused ones. */
#define NUMBER(name, byte) AT_##name,
enum { NO_OPCODE, PK_TAKEN(NUMBER) REFUSED_FROM, PK_REFUSED(NUMBER) };

#define BY_BYTE(name, byte) [byte] = AT_##name,
static const uint8_t op_at[256] = {PK_TAKEN(BY_BYTE) PK_REFUSED(BY_BYTE)};

#define BY_NUMBER(name, byte) [AT_##name] = op_##name,
static op_fn *const ops[REFUSED_FROM] = {PK_TAKEN(BY_NUMBER)};

static int refuse_opcode(unsigned char op)
{
#define NAME(name, byte) #name,
    static const char names[][20] = {PK_REFUSED(NAME)};
    if (!op_at[op])
        return vp_fail(VP_ECORRUPT, "invalid pickle opcode %u", op);
    return vp_fail(VP_EUNSUPPORTED,
                   "the pickle uses %s, but only plain values are supported because loading such a "
                   "file could execute code; write it with torch.cuda.memory._dump_snapshot",
                   names[op_at[op] - REFUSED_FROM - 1]);
}

static int run_ops(pk_machine *m)
{
    while (!m->stopped) {
        const unsigned char *p;
        m->at = pk_input_at(&m->in);
        int rc = machine_take_bytes(m, 1, &p);
        if (rc > 0)
            rc = op_at[*p] && op_at[*p] < REFUSED_FROM ? ops[op_at[*p]](m) : refuse_opcode(*p);
        if (rc <= 0)
            return rc;
    }
    return 1;
}

int pk_run(pk_machine *m, rd_stream *in)
{
    m->in.in = in;
    int rc = run_ops(m);
    return rc < 0 ? vp_fail_at(rc, NULL, -1, m->at) : rc;
}

int64_t pk_at(const pk_machine *m)
{
    return m->at;
}

vp_str pk_text(const pk_machine *m, vp_sid id)
{
    return vp_intern_get(&m->names, id);
}

static int name_words(pk_machine *m)
{
    vp_sid id;
    VP_TRY(vp_intern_init(&m->names, &m->arena));
    for (size_t i = 0; i < m->client.word_count; i++)
        VP_TRY(vp_intern_put(&m->names, vp_str_of(m->client.words[i]), &id));
    return 0;
}

int pk_new(pk_machine **out, const pk_client *client)
{
    pk_machine *m = vp_calloc(1, sizeof *m);
    VP_NEED(m);
    m->client = *client;
    vp_arena_init(&m->arena);
    int rc = name_words(m);
    if (rc < 0) {
        pk_free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void pk_free(pk_machine *m)
{
    if (!m)
        return;
    pk_memo_free(&m->memo);
    vp_intern_free(&m->names);
    vp_arena_free(&m->arena);
    vp_free(m->stack);
    vp_free(m->marks);
    vp_free(m);
}
