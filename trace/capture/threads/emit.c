#include "trace/capture/threads/emit.h"

#include <string.h>

#include "trace/capture/pool/recorder.h"
#include "trace/capture/threads/recording_thread.h"
#include "trace/vpcap/vpcap_layout.h"

/* Writes a record's slots in order. */
typedef struct out {
    uint64_t *at;
    uint32_t items;
} out;

static void put_word_pair(out *o, uint64_t a, uint64_t b)
{
    VP__STORE(o->at[0], a);
    VP__STORE(o->at[1], b);
    o->at += 2;
}

static void put_event_item(out *o, uint32_t type, uint32_t key, uint32_t bytes, uint64_t value)
{
    put_word_pair(o, value, (uint64_t)(bytes << 8 | type) << 32 | key);
    o->items++;
}

static void put_string(out *o, const char *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += VP__SLOT) {
        uint64_t words[2] = {0, 0};
        memcpy(words, s + i, n - i < VP__SLOT ? n - i : VP__SLOT);
        put_word_pair(o, words[0], words[1]);
    }
}

/* Clocks of two processors may differ by some ticks. */
static uint64_t ticks_between(uint64_t start, uint64_t end)
{
    return (int64_t)(end - start) < 0 ? 0 : end - start;
}

static uint32_t slots_of(uint32_t bytes)
{
    return (bytes + VP__SLOT - 1) / VP__SLOT;
}

/* A site's number in this image is determined once. The text is the same in every image. */
static bool fill_name(vpcap_name_entry *e, const char *name, const vp__site *site)
{
    if (!pool_string(&cap_pool_now, &e->name, name ? name : "(null)"))
        return false;
    if (site) {
        pool_string(&cap_pool_now, &e->function, site->function);
        pool_string(&cap_pool_now, &e->file, site->file);
        e->line = site->line;
        pool_string(&cap_pool_now, &e->category,
                    site->category || site->kind != VP__COMPILE ? site->category : "compile");
    }
    __atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
    return true;
}

uint32_t cap_site(vp__site *site, uint32_t generation, const vp_arg *args, uint32_t n)
{
    uint64_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE), mine;
    uint32_t at;
    n = n < CAP_ARGS_MAX ? n : CAP_ARGS_MAX;
    if (id >> 32 == generation)
        return (uint32_t)id;
    at = pool_names(&cap_pool_now, 1 + n);
    if (!at || at + n > VP__NAME_MAX || !fill_name(pool_name(&cap_pool_now, at), site->name, site))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        fill_name(pool_name(&cap_pool_now, at + 1 + i), args[i].key, NULL);
    mine = (uint64_t)generation << 32 | at;
    if (__atomic_compare_exchange_n(&site->id, &id, mine, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return at;
    return id >> 32 == generation ? (uint32_t)id : 0;
}

bool vp__prepare_args(vp__site *site, uint32_t generation, const vp_arg *args, size_t n)
{
    vp__thread *t = cap_try_enter(generation);
    bool ok = t && cap_site(site, generation, args, (uint32_t)n);
    if (t)
        vp__leave(t);
    return ok;
}

bool vp__prepare(vp__site *site, uint32_t generation)
{
    return vp__prepare_args(site, generation, NULL, 0);
}

/* The slots of an event: `fixed`, and those of its strings, which are truncated so that the event
 * fits in VP__EVENT_SLOTS. */
VP__INLINE uint32_t measure(const vp_arg *args, uint32_t n, uint32_t *lengths, uint32_t fixed)
{
    uint32_t slots = fixed;
    for (uint32_t i = 0; i < n; i++) {
        const char *s = args[i].type == VP_ARG_STR ? args[i].v.s : NULL;
        uint32_t room = (VP__EVENT_SLOTS - slots) * VP__SLOT;
        lengths[i] = s ? (uint32_t)strnlen(s, room) : 0;
        slots += slots_of(lengths[i]);
    }
    return slots;
}

VP__INLINE void put_arg(out *o, const vp_arg *a, uint32_t length, uint32_t key)
{
    uint64_t bits = 0;
    if (a->type == VP_ARG_STR) {
        put_event_item(o, VP__ITEM_STR, key, length, 0);
        put_string(o, a->v.s, length);
        return;
    }
    memcpy(&bits, &a->v, sizeof bits);
    put_event_item(o, a->type == VP_ARG_F64 ? VP__ITEM_F64 : VP__ITEM_I64, key, 0, bits);
}

static uint32_t correlation_of(const vp__thread *t, const cap_event *e)
{
    bool is_zone = e->kind == VP__ZONE || e->kind == VP__STEP || e->kind == VP__COMPILE;
    return e->correlation || !is_zone ? e->correlation : t->correlation;
}

static bool put_event_record(vp__thread *t, const cap_event *e, uint32_t name, const uint32_t *keys)
{
    uint64_t dur = ticks_between(e->start, e->end);
    uint32_t lengths[CAP_ARGS_MAX], correlation = correlation_of(t, e);
    bool is_long = dur > UINT32_MAX;
    uint32_t fixed =
        1u + is_long + e->has_number + (correlation != 0) + (e->track != 0) + e->arg_count;
    uint32_t slots = measure(e->args, e->arg_count, lengths, fixed);
    vp__record *r = cap_reserve(t, slots, e->end);
    out o = {(uint64_t *)(void *)r + 2, 0};
    if (!r)
        return false;
    if (is_long)
        put_event_item(&o, VP__ITEM_LONG, 0, 0, dur >> 32);
    if (e->has_number)
        put_event_item(&o, e->is_real ? VP__ITEM_REAL : VP__ITEM_NUMBER, 0, 0, e->number);
    if (correlation)
        put_event_item(&o, VP__ITEM_CORRELATION, 0, 0, correlation);
    if (e->track)
        put_event_item(&o, VP__ITEM_TRACK, 0, 0, e->track - 1);
    for (uint32_t i = 0; i < e->arg_count; i++)
        put_arg(&o, &e->args[i], lengths[i], keys[i]);
    o.at = (uint64_t *)(void *)r;
    put_word_pair(&o, e->start, (uint64_t)VP__WHAT(name, o.items, e->kind) << 32 | (uint32_t)dur);
    cap_publish(t, slots, true);
    return true;
}

/* There is a chunk, but no space for the site's names: counted as if the pool were full. */
static void count_full(vp__thread *t)
{
    __atomic_fetch_add(&t->block->dropped_full, 1, __ATOMIC_RELAXED);
}

void cap_count_lost(uint32_t generation, uint64_t too_deep, uint64_t left)
{
    vp__thread *t = cap_enter(generation);
    if (!t)
        return;
    __atomic_fetch_add(&t->block->dropped_depth, too_deep, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->block->left, left, __ATOMIC_RELAXED);
    vp__leave(t);
}

enum { OUT_OF_REACH, NO_ROOM, KEPT };

VP__INLINE int emit(uint32_t generation, const cap_event *given, uint32_t place)
{
    cap_event e = *given;
    vp__thread *t = cap_enter(generation);
    if (!t)
        return OUT_OF_REACH;
    e.arg_count = e.arg_count < CAP_ARGS_MAX ? e.arg_count : CAP_ARGS_MAX;
    uint32_t keys[CAP_ARGS_MAX];
    uint32_t name = cap_site(e.site, generation, e.args, e.keys ? 0 : e.arg_count);
    for (uint32_t i = 0; i < e.arg_count; i++)
        keys[i] = e.keys ? cap_site(e.keys[i], generation, NULL, 0) : name + 1 + i;
    bool kept = false;
    if (name)
        kept = put_event_record(t, &e, name, keys);
    else
        count_full(t);
    if (place)
        pool_open_give(&cap_pool_now, place);
    vp__leave(t);
    return kept ? KEPT : NO_ROOM;
}

bool cap_emit(uint32_t generation, const cap_event *e)
{
    int rc = emit(generation, e, 0);
    return rc == KEPT || (rc == OUT_OF_REACH && vp__generation() != generation);
}

bool cap_emit_listed(uint32_t generation, const cap_event *e, uint32_t place)
{
    return emit(generation, e, place) != OUT_OF_REACH;
}

/* Counts the scopes from `depth` to `end` as left, except those without a start in the list. */
static void leave_scopes(vp__thread *t, uint32_t depth, uint32_t end)
{
    uint64_t left = 0;
    if (depth >= end)
        return;
    if (end > VP__DEPTH)
        left = end - (depth > VP__DEPTH ? depth : VP__DEPTH);
    for (; depth < end && depth < VP__DEPTH; depth++)
        left += cap_frame_close(&t->block->scopes[depth]);
    __atomic_fetch_add(&t->block->left, left, __ATOMIC_RELAXED);
}

void vp__scopes_left(vp__thread *t, uint32_t generation, vp__place here)
{
    uint32_t end = t->scope_depth, depth = end < VP__DEPTH ? end : VP__DEPTH;
    for (uint32_t i = depth; i && t->places[i - 1].frame <= here.frame; i--)
        if (!vp__is_around(&t->places[i - 1], here))
            depth = i - 1;
    if (depth == VP__DEPTH)
        return;
    t->scope_depth = depth;
    if (VP__LOAD(t->busy) || !vp__enter(t, generation))
        return;
    leave_scopes(t, depth, end);
    vp__leave(t);
}

/* While another stack is in use, a coroutine's scope looks as if a jump had left it. When it ends
 * after all, it is subtracted from the count. */
static void was_not_left(vp__thread *t)
{
    uint64_t n = VP__LOAD(t->block->left);
    while (n && !__atomic_compare_exchange_n(&t->block->left, &n, n - 1, false, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
        continue;
}

/* A scope's frame is closed only after its record is written: a reader that finds both recognizes
 * them as one zone. */
static void close_scope(uint32_t generation, uint32_t depth)
{
    vp__thread *t = vp__me;
    uint32_t end = t->scope_depth;
    if (t->generation != generation || depth == UINT32_MAX)
        return;
    t->scope_depth = depth < end ? depth : end;
    if (VP__LOAD(t->busy) || !vp__enter(t, generation))
        return;
    if (end <= depth)
        was_not_left(t);
    if (depth < VP__DEPTH)
        __atomic_store_n(&t->block->scopes[depth].start, 0, __ATOMIC_RELEASE);
    leave_scopes(t, depth + 1, end);
    vp__leave(t);
}

void vp__scope_finish(vp__site *site, uint64_t start, uint64_t end, uint32_t generation,
                      uint32_t depth)
{
    cap_emit(generation,
             &(cap_event){.site = site, .kind = site->kind, .start = start, .end = end});
    close_scope(generation, depth);
}

void vp__step_opened(uint32_t generation, uint32_t depth, uint64_t number)
{
    vp__thread *t = vp__me;
    if (depth >= VP__DEPTH || t->generation != generation || VP__LOAD(t->busy) ||
        !vp__enter(t, generation))
        return;
    VP__STORE(t->block->scopes[depth].kind, VP__FRAME_STEP(number));
    vp__leave(t);
}

void vp__flow(uint32_t generation, uint64_t id, bool out_of)
{
    uint64_t now = vp__ticks(generation);
    vp__thread *t = cap_enter(generation);
    vp__record *r = t ? cap_reserve(t, 2, now) : NULL;
    if (r) {
        out o = {(uint64_t *)(void *)r + 2, 0};
        put_event_item(&o, out_of ? VP__ITEM_FLOW_OUT : VP__ITEM_FLOW_IN, 0, 0, id);
        o.at = (uint64_t *)(void *)r;
        put_word_pair(&o, now, (uint64_t)VP__WHAT(VPCAP_NAME_FLOW, 1, VP__INSTANT) << 32);
        cap_publish(t, 2, false);
    }
    if (t)
        vp__leave(t);
}

/* The calling thread, marked as busy, if it has been in this recording before; NULL: use
 * cap_enter. */
VP__INLINE vp__thread *enter_again(uint32_t generation)
{
    vp__thread *t = vp__me;
    bool plain = t->generation == generation && !VP__LOAD(t->busy);
    return VP__LIKELY(plain) && vp__enter(t, generation) ? t : NULL;
}

/* ---- Scopes with attributes ---- */

/* Fast path of vp__rich_end: writes the end of a scope if its site is known and the chunk has
 * space, and closes its frame together. */
VP__INLINE bool end_rich_plainly(const vp__rich_scope *s, uint64_t end)
{
    const vp__site *site = s->scope.site;
    uint32_t generation = s->scope.generation, depth = s->scope.depth, n = s->arg_count;
    uint32_t lengths[CAP_ARGS_MAX], name;
    uint64_t id = VP__LOAD(site->id), dur = end - s->scope.start;
    bool step = site->kind == VP__STEP;
    vp__thread *t = vp__me;
    if (!VP__LIKELY(id >> 32 == generation && dur <= UINT32_MAX && depth < VP__DEPTH &&
                    t->scope_depth == depth + 1 && n <= CAP_ARGS_MAX))
        return false;
    uint32_t correlation = s->correlation ? s->correlation : t->correlation;
    uint32_t slots = measure(s->args, n, lengths, 1u + step + (correlation != 0) + n);
    if (!enter_again(generation))
        return false;
    vp__chunk *c = t->chunk;
    uint64_t state = VP__LOAD(c->state);
    if (!VP__LIKELY(slots <= c->limit - (uint32_t)state)) {
        vp__leave(t);
        return false;
    }
    uint64_t *record = (uint64_t *)(void *)((vp__record *)(void *)c + (uint32_t)state);
    out o = {record + 2, 0};
    name = (uint32_t)id;
    if (step)
        put_event_item(&o, VP__ITEM_NUMBER, 0, 0, s->number);
    if (correlation)
        put_event_item(&o, VP__ITEM_CORRELATION, 0, 0, correlation);
    for (uint32_t i = 0; i < n; i++)
        put_arg(&o, &s->args[i], lengths[i], name + 1 + i);
    VP__STORE(record[0], s->scope.start);
    VP__STORE(record[1], (uint64_t)VP__WHAT(name, o.items, site->kind) << 32 | dur);
    __atomic_store_n(&c->state, state + ((uint64_t)1 << 32 | slots), __ATOMIC_RELEASE);
    __atomic_store_n(&t->block->scopes[depth].start, 0, __ATOMIC_RELEASE);
    t->scope_depth = depth;
    vp__leave(t);
    return true;
}

static __attribute__((noinline)) void end_rich_slowly(const vp__rich_scope *s, uint64_t end)
{
    cap_event e = {.site = s->scope.site,
                   .kind = s->scope.site->kind,
                   .start = s->scope.start,
                   .end = end,
                   .correlation = s->correlation,
                   .has_number = s->scope.site->kind == VP__STEP,
                   .number = s->number,
                   .args = s->args,
                   .arg_count = s->arg_count};
    cap_emit(s->scope.generation, &e);
    close_scope(s->scope.generation, s->scope.depth);
}

void vp__rich_end(vp__rich_scope *s)
{
    uint64_t end = vp__ticks(s->scope.generation);
    if (!VP__LIKELY(end_rich_plainly(s, end)))
        end_rich_slowly(s, end);
}

/* ---- Instants and counters ---- */

/* Fast path of counters: writes the value if the site is known and the chunk has space. */
VP__INLINE bool count_plainly(const vp__site *site, uint32_t generation, uint32_t type,
                              uint64_t bits, uint64_t now)
{
    uint64_t id = VP__LOAD(site->id);
    vp__thread *t = VP__LIKELY(id >> 32 == generation) ? enter_again(generation) : NULL;
    if (!VP__LIKELY(t != NULL))
        return false;
    vp__chunk *c = t->chunk;
    uint64_t state = VP__LOAD(c->state);
    bool room = (uint32_t)state + 2 <= c->limit;
    if (VP__LIKELY(room)) {
        out o = {(uint64_t *)(void *)((vp__record *)(void *)c + (uint32_t)state), 0};
        put_word_pair(&o, now, (uint64_t)VP__WHAT((uint32_t)id, 1, VP__COUNTER) << 32);
        put_event_item(&o, type, 0, 0, bits);
        __atomic_store_n(&c->state, state + ((uint64_t)1 << 32 | 2), __ATOMIC_RELEASE);
    }
    vp__leave(t);
    return room;
}

void vp__instant(vp__site *site, uint32_t generation)
{
    uint64_t now = vp__ticks(generation);
    cap_emit(generation, &(cap_event){.site = site, .kind = VP__INSTANT, .start = now, .end = now});
}

static void count_counter_sample(vp__site *site, uint32_t generation, bool is_real, uint64_t bits)
{
    uint64_t now = vp__ticks(generation);
    if (VP__LIKELY(
            count_plainly(site, generation, is_real ? VP__ITEM_REAL : VP__ITEM_NUMBER, bits, now)))
        return;
    cap_emit(generation, &(cap_event){.site = site,
                                      .kind = VP__COUNTER,
                                      .start = now,
                                      .end = now,
                                      .has_number = true,
                                      .is_real = is_real,
                                      .number = bits});
}

void vp__counter(vp__site *site, uint32_t generation, int64_t value)
{
    count_counter_sample(site, generation, false, (uint64_t)value);
}

void vp__counter_real(vp__site *site, uint32_t generation, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    count_counter_sample(site, generation, true, bits);
}

/* ---- Pairs ---- */

static void open_pair(vp__thread *t, uint32_t generation, uint32_t name, uint32_t kind)
{
    if (t->pair_depth < VP__DEPTH) {
        vp__frame *f = &t->block->pairs[t->pair_depth];
        VP__STORE(f->name, name);
        VP__STORE(f->kind, kind);
        __atomic_store_n(&f->start, vp__ticks(generation), __ATOMIC_RELEASE);
    }
    t->pair_depth++;
}

static __attribute__((noinline)) void begin_slowly(vp__site *site, uint32_t generation)
{
    vp__thread *t = cap_enter(generation);
    if (!t)
        return;
    open_pair(t, generation, cap_site(site, generation, NULL, 0), site->kind);
    vp__leave(t);
}

void vp__pair_begin(vp__site *site, uint32_t generation)
{
    uint64_t id = VP__LOAD(site->id);
    vp__thread *t = VP__LIKELY(id >> 32 == generation) ? enter_again(generation) : NULL;
    if (!VP__LIKELY(t != NULL)) {
        begin_slowly(site, generation);
        return;
    }
    open_pair(t, generation, (uint32_t)id, site->kind);
    vp__leave(t);
}

static void put_pair_record(vp__thread *t, uint64_t end)
{
    vp__frame *f = &t->block->pairs[t->pair_depth];
    cap_event e = {.kind = f->kind, .start = f->start, .end = end};
    if (f->name)
        put_event_record(t, &e, f->name, NULL);
    else
        count_full(t);
    __atomic_store_n(&f->start, 0, __ATOMIC_RELEASE);
}

static void end_thread_pair(vp__thread *t, uint64_t now)
{
    if (!t->pair_depth)
        __atomic_fetch_add(&t->block->unmatched_ends, 1, __ATOMIC_RELAXED);
    else if (--t->pair_depth >= VP__DEPTH)
        __atomic_fetch_add(&t->block->dropped_depth, 1, __ATOMIC_RELAXED);
    else
        put_pair_record(t, now);
}

static __attribute__((noinline)) void end_slowly(uint32_t generation, uint64_t now)
{
    vp__thread *t = cap_enter(generation);
    if (!t)
        return;
    end_thread_pair(t, now);
    vp__leave(t);
}

/* Fast path of put_pair_record: writes the end of a pair whose record takes one slot, if the chunk
 * has space. */
VP__INLINE bool end_plainly(vp__thread *t, uint64_t now)
{
    uint32_t depth = t->pair_depth - 1;
    if (!VP__LIKELY(depth < VP__DEPTH))
        return false;
    vp__frame *f = &t->block->pairs[depth];
    vp__chunk *c = t->chunk;
    uint64_t start = VP__LOAD(f->start), dur = now - start, state = VP__LOAD(c->state);
    uint32_t name = VP__LOAD(f->name);
    if (!VP__LIKELY(name && dur <= UINT32_MAX && (uint32_t)state < c->limit && !t->correlation))
        return false;
    out o = {(uint64_t *)(void *)((vp__record *)(void *)c + (uint32_t)state), 0};
    put_word_pair(&o, start, (uint64_t)VP__WHAT(name, 0, f->kind) << 32 | dur);
    __atomic_store_n(&c->state, state + ((uint64_t)1 << 32 | 1), __ATOMIC_RELEASE);
    __atomic_store_n(&f->start, 0, __ATOMIC_RELEASE);
    t->pair_depth = depth;
    return true;
}

void vp__pair_end(uint32_t generation)
{
    uint64_t now = vp__ticks(generation);
    vp__thread *t = enter_again(generation);
    if (!VP__LIKELY(t != NULL)) {
        end_slowly(generation, now);
        return;
    }
    if (!VP__LIKELY(end_plainly(t, now)))
        end_thread_pair(t, now);
    vp__leave(t);
}

uint32_t cap_keys_of(vp__site **keys, const vp_arg *args, size_t n)
{
    uint32_t count = 0;
    for (; count < n && count < CAP_ARGS_MAX; count++) {
        keys[count] = cap_known_site(vp_name(args[count].key));
        if (!keys[count])
            break;
    }
    return count;
}
