#include "trace/read/pickle/torch_snapshot.h"

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"
#include "trace/read/pickle/pickle_machine.h"
#include "trace/read/pickle/pickle_ops.h"
#include "trace/read/semantics/user_files.h"

/* Words of interest; their ids follow from the order, from 1. From active_allocated on they are
 * states, actions and stages, which are never keys. */
#define WORDS(X)                                                                                   \
    X(segments)                                                                                    \
    X(device_traces)                                                                               \
    X(external_annotations)                                                                        \
    X(blocks)                                                                                      \
    X(frames)                                                                                      \
    X(device)                                                                                      \
    X(address)                                                                                     \
    X(addr)                                                                                        \
    X(total_size)                                                                                  \
    X(size)                                                                                        \
    X(requested_size)                                                                              \
    X(state)                                                                                       \
    X(action)                                                                                      \
    X(time_us)                                                                                     \
    X(device_free)                                                                                 \
    X(stage)                                                                                       \
    X(name)                                                                                        \
    X(filename)                                                                                    \
    X(line)                                                                                        \
    X(active_allocated)                                                                            \
    X(active_pending_free)                                                                         \
    X(active_awaiting_free)                                                                        \
    X(alloc)                                                                                       \
    X(free_requested)                                                                              \
    X(free_completed)                                                                              \
    X(segment_alloc) X(segment_map) X(segment_free) X(segment_unmap) X(oom) X(START)
#define WORD_ID(w) W_##w,
enum { W_NONE, WORDS(WORD_ID) W_END };
enum { W_KEYS_END = W_active_allocated };

enum {
    SEGMENTS = PK_ROLE_ROOT + 1,
    SEGMENT,
    BLOCKS,
    BLOCK,
    TRACES,
    TRACE,
    ENTRY,
    FRAMES,
    FRAME,
    NOTES,
    NOTE
};

#define NOT_SAID INT64_MIN

typedef struct frame {
    vp_sid name, file;
    int64_t line;
    uint8_t rank; /* how well it explains an allocation */
} frame;

struct ts_snapshot {
    pk_machine *machine;
    ts_sink sink;
    frame *frames; /* a site is the index + 1 */
    size_t frame_count, frame_cap;
    vp_map frame_at;
    ts_segment segment; /* whose blocks are being read */
    uint32_t device;    /* whose history is being read */
    int64_t odd, cut_at;
    bool any; /* something was passed to the sink */
    bool is_snapshot;
};

bool ts_is(vp_str head)
{
    const unsigned char *p = (const unsigned char *)head.p;
    if (head.n < 3 || p[0] != PK_PROTO || p[1] < PK_PROTOCOL_MIN || p[1] > PK_PROTOCOL_MAX)
        return false;
    bool dict =
        p[2] == PK_EMPTY_DICT || (p[2] == PK_FRAME && head.n > 11 && p[11] == PK_EMPTY_DICT);
    if (!dict)
        return false;
    return vp_str_find(head, VP_STR("segments")) < head.n ||
           vp_str_find(head, VP_STR("device_traces")) < head.n ||
           vp_str_find(head, VP_STR("allocator_settings")) < head.n;
}

static uint8_t snapshot_role_of(uint8_t parent, vp_sid key, bool dict)
{
    static const struct {
        uint8_t parent, key;
        bool dict;
        uint8_t role;
    } rows[] = {
        {TRACE, 0, true, ENTRY},
        {ENTRY, W_frames, false, FRAMES},
        {FRAMES, 0, true, FRAME},
        {BLOCKS, 0, true, BLOCK},
        {BLOCK, W_frames, false, FRAMES},
        {SEGMENTS, 0, true, SEGMENT},
        {SEGMENT, W_blocks, false, BLOCKS},
        {NOTES, 0, true, NOTE},
        {TRACES, 0, false, TRACE},
        {PK_ROLE_ROOT, W_segments, false, SEGMENTS},
        {PK_ROLE_ROOT, W_device_traces, false, TRACES},
        {PK_ROLE_ROOT, W_external_annotations, false, NOTES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].parent == parent && rows[i].key == key && rows[i].dict == dict)
            return rows[i].role;
    return PK_ROLE_NONE;
}

static int open_role(void *ctx, uint8_t role, uint32_t index, uint32_t *id)
{
    ts_snapshot *s = ctx;
    *id = 0;
    if (role == SEGMENT)
        s->segment = (ts_segment){0};
    if (role == TRACE)
        s->device = index;
    s->is_snapshot = s->is_snapshot || role == SEGMENTS || role == TRACES;
    if (role == TRACE && index >= TS_DEVICES_MAX)
        return vp_fail(VP_ELIMIT, "a snapshot of more than %u devices", TS_DEVICES_MAX);
    return 0;
}

/* ---- Dicts ---- */

typedef struct fields {
    const pk_value *of[W_KEYS_END];
} fields;

static int64_t number_field(const fields *f, int key)
{
    const pk_value *v = f->of[key];
    return v && v->type == PK_A_NUMBER ? v->v : NOT_SAID;
}

static vp_sid text_field(const fields *f, int key)
{
    const pk_value *v = f->of[key];
    return v && v->type == PK_A_TEXT ? v->id : 0;
}

static ts_site site_field(const fields *f)
{
    const pk_value *v = f->of[W_frames];
    return v && (v->type == PK_A_FOLDED || (v->type == PK_A_LIST && v->role == FRAMES)) ? v->id : 0;
}

/* A Python frame of the user is best, then one of a library, then C++ frames; those next to the
 * allocator come first and are the same everywhere. */
static uint8_t frame_rank(vp_str name, vp_str file)
{
    static const char *const always[] = {"torch::unwind", "CapturedTraceback", "gather_with_cpp",
                                         "CUDACachingAllocator", "c10::"};
    if (vp_str_ends(file, VP_STR(".py")) || vp_str_starts(file, VP_STR("<")))
        return rd_is_user_file(file) ? 3 : 2;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (vp_str_find(name, vp_str_of(always[i])) < name.n)
            return 0;
    return name.n > 0;
}

static int take_frame(ts_snapshot *s, const fields *f, uint32_t *id)
{
    frame x = {text_field(f, W_name), text_field(f, W_filename), number_field(f, W_line), 0};
    x.line = x.line > 0 ? x.line : 0;
    uint64_t key = vp_mix(vp_mix((uint64_t)x.name << 32 | x.file) + (uint64_t)x.line);
    *id = vp_map_get(&s->frame_at, key);
    if (*id != VP_MAP_NONE)
        return 0;
    x.rank = frame_rank(pk_text(s->machine, x.name), pk_text(s->machine, x.file));
    VP_TRY(vp_grow(&s->frames, &s->frame_cap, s->frame_count + 1, sizeof x, UINT32_MAX - 1));
    *id = (uint32_t)s->frame_count;
    s->frames[s->frame_count++] = x;
    return vp_map_set(&s->frame_at, key, *id);
}

static int snapshot_take_block(ts_snapshot *s, const fields *f, uint32_t *id)
{
    vp_sid state = text_field(f, W_state);
    ts_block b = {number_field(f, W_address), number_field(f, W_size),
                  number_field(f, W_requested_size), TS_INACTIVE, site_field(f)};
    (void)id;
    if (b.size < 0) {
        s->odd++;
        return 0;
    }
    b.requested = b.requested < 0 ? b.size : b.requested;
    b.state = state == W_active_allocated                                         ? TS_ACTIVE
              : state == W_active_pending_free || state == W_active_awaiting_free ? TS_PENDING_FREE
                                                                                  : TS_INACTIVE;
    ts_segment *of = &s->segment;
    of->blocks++;
    if (b.state != TS_INACTIVE) {
        of->has_active = true;
    } else {
        of->inactive_blocks++;
        of->inactive = vp_add_most(of->inactive, b.size);
    }
    s->any = true;
    return s->sink.block(s->sink.ctx, &b);
}

static int take_segment(ts_snapshot *s, const fields *f, uint32_t *id)
{
    int64_t device = number_field(f, W_device);
    (void)id;
    s->segment.address = number_field(f, W_address);
    s->segment.total = number_field(f, W_total_size);
    s->segment.device = device >= 0 && device < TS_DEVICES_MAX ? (uint32_t)device : 0;
    if (s->segment.total < 0) {
        s->odd++;
        s->segment.total = 0;
    }
    s->any = true;
    return s->sink.segment(s->sink.ctx, &s->segment);
}

static ts_action action_of(vp_sid word)
{
    static const uint8_t actions[W_END] = {
        [W_alloc] = TS_ALLOC,
        [W_free_requested] = TS_FREE_REQUESTED,
        [W_free_completed] = TS_FREE_COMPLETED,
        [W_segment_alloc] = TS_SEGMENT_ALLOC,
        [W_segment_map] = TS_SEGMENT_ALLOC,
        [W_segment_free] = TS_SEGMENT_FREE,
        [W_segment_unmap] = TS_SEGMENT_FREE,
        [W_oom] = TS_OOM,
    };
    return word < W_END ? (ts_action)actions[word] : TS_OTHER;
}

static int snapshot_take_entry(ts_snapshot *s, const fields *f, uint32_t *id)
{
    ts_entry e = {action_of(text_field(f, W_action)),
                  s->device,
                  number_field(f, W_addr),
                  number_field(f, W_size),
                  number_field(f, W_time_us),
                  site_field(f)};
    (void)id;
    if (e.action == TS_OOM)
        e.address = number_field(f, W_device_free);
    if (e.action != TS_OTHER && e.size < 0) {
        s->odd++;
        return 0;
    }
    e.unix_us = e.unix_us < 0 ? -1 : e.unix_us;
    s->any = true;
    return s->sink.entry(s->sink.ctx, &e);
}

static int take_note(ts_snapshot *s, const fields *f, uint32_t *id)
{
    ts_note n = {text_field(f, W_stage) == W_START, pk_text(s->machine, text_field(f, W_name)),
                 number_field(f, W_time_us)};
    (void)id;
    return n.unix_us < 0 ? 0 : s->sink.note(s->sink.ctx, &n);
}

static int snapshot_take_dict(void *ctx, uint8_t role, const pk_value *pairs, size_t n,
                              uint32_t *id)
{
    typedef int take_fn(ts_snapshot *, const fields *, uint32_t *);
    static take_fn *const takes[] = {[SEGMENT] = take_segment,
                                     [BLOCK] = snapshot_take_block,
                                     [ENTRY] = snapshot_take_entry,
                                     [FRAME] = take_frame,
                                     [NOTE] = take_note};
    fields f = {{NULL}};
    for (size_t i = 0; i < n; i++)
        if (pairs[2 * i].type == PK_A_TEXT && pairs[2 * i].id < W_KEYS_END)
            f.of[pairs[2 * i].id] = &pairs[2 * i + 1];
    return takes[role](ctx, &f, id);
}

static int snapshot_take_item(void *ctx, uint8_t role, uint32_t *id, const pk_value *item)
{
    const ts_snapshot *s = ctx;
    if (role == TRACES)
        *id += item->type == PK_A_OTHER ? item->id : 1;
    if (role == FRAMES && item->type == PK_A_RECORD &&
        (!*id || s->frames[*id - 1].rank < s->frames[item->id].rank))
        *id = item->id + 1;
    return 0;
}

/* ---- The snapshot ---- */

static int check_snapshot_result(ts_snapshot *s, int rc, const rd_stream *in)
{
    if (rc < 0)
        return rc;
    if (rc == 0 && !s->any && in->damage.code)
        return vp_fail_copy(&in->damage);
    if (!s->is_snapshot || (rc == 0 && !s->any)) {
        vp_fail(VP_ECORRUPT,
                rc ? "a pickle, but not a memory snapshot of PyTorch: it has no segments"
                   : "the pickle is cut off at the start");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, pk_at(s->machine));
    }
    s->cut_at = rc ? -1 : pk_at(s->machine);
    return 0;
}

int ts_read(ts_snapshot **out, rd_stream *in, const ts_sink *sink)
{
#define WORD_TEXT(w) #w,
    static const char *const words[] = {WORDS(WORD_TEXT)};
    ts_snapshot *s = vp_calloc(1, sizeof *s);
    VP_NEED(s);
    s->sink = *sink;
    vp_map_init(&s->frame_at);
    pk_client client = {s,
                        words,
                        W_END - 1,
                        FRAME,
                        FRAMES,
                        snapshot_role_of,
                        open_role,
                        snapshot_take_dict,
                        snapshot_take_item};
    int rc = pk_new(&s->machine, &client);
    if (rc >= 0)
        rc = check_snapshot_result(s, pk_run(s->machine, in), in);
    if (rc < 0) {
        ts_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void ts_free(ts_snapshot *s)
{
    if (!s)
        return;
    pk_free(s->machine);
    vp_map_free(&s->frame_at);
    vp_free(s->frames);
    vp_free(s);
}

int64_t ts_cut_at(const ts_snapshot *s)
{
    return s->cut_at;
}

int64_t ts_odd(const ts_snapshot *s)
{
    return s->odd;
}

void ts_where(const ts_snapshot *s, ts_site where, vp_str *function, vp_str *file, int64_t *line)
{
    frame none = {0}, f = where && where <= s->frame_count ? s->frames[where - 1] : none;
    *function = pk_text(s->machine, f.name);
    *file = pk_text(s->machine, f.file);
    *line = f.line;
}
