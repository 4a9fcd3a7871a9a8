#include "trace/read/xspace/xs_plane.h"

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/xspace_fields.h"

static const char *const role_names[XS_STAT_ROLES] = {
    [XS_STAT_DEVICE_OFFSET] = "device_offset_ps",
    [XS_STAT_DEVICE_DURATION] = "device_duration_ps",
    [XS_STAT_HLO_OP] = "hlo_op",
    [XS_STAT_HLO_MODULE] = "hlo_module",
    [XS_STAT_PROGRAM_ID] = "program_id",
    [XS_STAT_HLO_CATEGORY] = "hlo_category",
    [XS_STAT_TF_OP] = "tf_op",
    [XS_STAT_SOURCE] = "source",
    [XS_STAT_BYTES] = "bytes_accessed",
    [XS_STAT_FLOPS] = "flops",
    [XS_STAT_MODEL_FLOPS] = "model_flops",
    [XS_STAT_SHAPE] = "shape_with_layout",
    [XS_STAT_MEMCPY] = "memcpy_details",
    [XS_STAT_TWIN] = "deduplicated_name",
    [XS_STAT_ORDINAL] = "device_ordinal",
    [XS_STAT_PRODUCER_TYPE] = "_pt",
    [XS_STAT_PRODUCER] = "_p",
    [XS_STAT_CONSUMER_TYPE] = "_ct",
    [XS_STAT_CONSUMER] = "_c",
    [XS_STAT_HLO_PROTO] = "Hlo Proto",
    [XS_STAT_PROFILE_START] = "profile_start_time",
    [XS_STAT_PROFILE_STOP] = "profile_stop_time",
    [XS_STAT_WINDOW_START] = "window_start_time",
    [XS_STAT_DROPPED] = "dropped_traces",
    [XS_STAT_GPU_MODEL] = "gpu_device_name",
    [XS_STAT_TPU_MODEL] = "device_type_string",
    [XS_STAT_CORE_DETAILS] = "core_details",
    [XS_STAT_CATEGORY] = "category",
    [XS_STAT_GROUP_SIZE] = "group_size",
    [XS_STAT_LOST] = "lost_zones",
    [XS_STAT_UNFINISHED] = "unfinished",
    [XS_STAT_BREAKDOWN] = "memory_access_breakdown",
    [XS_STAT_LAUNCH] = "kernel_details",
    [XS_STAT_GRAPH] = "cuda_graph_id",
    [XS_STAT_GRAPH_NODE] = "cuda_graph_node_id",
    [XS_STAT_PEAK] = "peak_teraflops_per_second",
    [XS_STAT_HBM] = "peak_hbm_bw_gigabytes_per_second",
    [XS_STAT_BANDWIDTH] = "memory_bandwidth",
    [XS_STAT_CORES] = "core_count",
    [XS_STAT_CLOCK] = "clock_rate",
    [XS_STAT_MEMORY] = "memory_size",
    [XS_STAT_CC_MAJOR] = "compute_cap_major",
    [XS_STAT_CC_MINOR] = "compute_cap_minor",
    [XS_STAT_CORRELATION] = "correlation_id",
    [XS_STAT_STEP_NUM] = "step_num",
    [XS_STAT_ITER_NUM] = "iter_num",
    [XS_STAT_ROOT] = "_r",
    [XS_STAT_GROUP] = "group_id",
    [XS_STAT_RUN] = "run_id",
    [XS_STAT_ALL_REDUCE] = "all_reduce_unique_id",
    [XS_STAT_FLOW] = "flow",
    [XS_STAT_MEM_DELTA] = "allocation_bytes",
    [XS_STAT_MEM_USED] = "bytes_allocated",
    [XS_STAT_MEM_FREE] = "bytes_available",
    [XS_STAT_MEM_RESERVED] = "bytes_reserved",
    [XS_STAT_MEM_DEVICE] = "index_on_host",
    [XS_STAT_MEM_ADDRESS] = "addr",
    [XS_STAT_MEM_LIFETIME] = "peak_bytes_in_use",
    [XS_STAT_MEM_FRAGMENTED] = "fragmentation",
    [XS_STAT_ALLOCATOR] = "allocator_name",
};

/* Nodes of graphs are grouped by their common launch at any depth, so correlations are read
 * then. */
static bool is_wanted_stat_role(const xs_plane *pl, int role)
{
    return role < XS_STAT_ATTRS || pl->attrs || (role == XS_STAT_CORRELATION && pl->graphs);
}

static xs_stat_role stat_role_of(const xs_plane *pl, vp_str name)
{
    for (int r = 1; r < XS_STAT_ROLES; r++)
        if (vp_str_eq(name, vp_str_of(role_names[r])))
            return is_wanted_stat_role(pl, r) ? (xs_stat_role)r : XS_STAT_OTHER;
    return vp_str_eq(name, VP_STR("hlo_proto")) ? XS_STAT_HLO_PROTO : XS_STAT_OTHER;
}

/* Reads key and value of a protobuf map entry. */
static bool map_entry(vp_str bytes, int64_t *key, vp_str *value)
{
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    int rc;
    *key = 0;
    *value = VP_STR_NONE;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == XMAP_KEY && f.wire == VP_PB_VARINT)
            *key = (int64_t)f.u;
        else if (f.number == XMAP_VALUE && f.wire == VP_PB_LEN)
            *value = f.data;
    }
    return rc == 0;
}

static int add_stat_meta(xs_plane *pl, vp_str bytes)
{
    int64_t id;
    vp_str value, name = VP_STR_NONE;
    vp_pb_field f;
    if (!map_entry(bytes, &id, &value))
        return VP_ECORRUPT;
    vp_pb r = vp_pb_of(value);
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == XSTATMETADATA_NAME && f.wire == VP_PB_LEN)
            name = f.data;
    VP_TRY(vp_grow(&pl->stat_names, &pl->stat_cap, pl->stat_count + 1, sizeof name, VP_INTERN_MAX));
    VP_TRY(vp_grow(&pl->stat_roles, &pl->role_cap, pl->stat_count + 1, 1, VP_INTERN_MAX));
    pl->stat_names[pl->stat_count] = name;
    pl->stat_roles[pl->stat_count] = (uint8_t)stat_role_of(pl, name);
    pl->graphs = pl->graphs || pl->stat_roles[pl->stat_count] == XS_STAT_GRAPH;
    if (!pl->launches && pl->stat_roles[pl->stat_count] == XS_STAT_LAUNCH)
        pl->stat_roles[pl->stat_count] = XS_STAT_OTHER;
    if ((uint64_t)id < sizeof pl->role_dense)
        pl->role_dense[id] = pl->stat_roles[pl->stat_count];
    return vp_map_set(&pl->stat_by_id, (uint64_t)id, (uint32_t)pl->stat_count++);
}

static int add_event_meta(xs_plane *pl, vp_str bytes)
{
    int64_t id;
    vp_str value;
    if (!map_entry(bytes, &id, &value))
        return VP_ECORRUPT;
    VP_TRY(vp_grow(&pl->meta, &pl->meta_cap, pl->meta_count + 1, sizeof *pl->meta, VP_INTERN_MAX));
    pl->meta[pl->meta_count] = (xs_meta){.bytes = value, .kind = SINK_NONE};
    return vp_map_set(&pl->meta_by_id, (uint64_t)id, (uint32_t)pl->meta_count++);
}

/* Makes an array by id, which is faster than the map: ids are small and dense in every known
 * writer. */
static int make_dense(xs_plane *pl)
{
    uint64_t top = 0;
    for (size_t i = 0; pl->meta_by_id.slots && i <= pl->meta_by_id.mask; i++)
        if (pl->meta_by_id.slots[i].value != VP_MAP_NONE && pl->meta_by_id.slots[i].key >= top)
            top = pl->meta_by_id.slots[i].key + 1;
    if (!top || top > 4 * pl->meta_count + 1024)
        return 0;
    pl->meta_dense = vp_realloc_array(NULL, (size_t)top, sizeof *pl->meta_dense);
    VP_NEED(pl->meta_dense);
    for (uint64_t id = 0; id < top; id++)
        pl->meta_dense[id] = vp_map_get(&pl->meta_by_id, id);
    pl->meta_dense_n = (size_t)top;
    return 0;
}

/* Copies one field with its tag into the plane's own bytes. */
static int keep_field(xs_window *w, vp_buf *b, int64_t from, int64_t to)
{
    while (from < to) {
        const uint8_t *p;
        size_t have;
        VP_TRY(xw_peek(w, from, to, &p, &have));
        VP_TRY(vp_buf_put(b, p, have));
        from += (int64_t)have;
    }
    return 0;
}

/* Stores the position of a line. Its base time is needed before its events are read; the position
 * of its events is not needed yet. */
static int plane_add_line(xs_plane *pl, xs_window *w, int64_t offset, int64_t end)
{
    xs_line line = {offset, end, 0};
    xw_field f;
    for (int64_t at = offset; xw_next(w, &at, end, &f) > 0 && f.number < XLINE_EVENTS;)
        if (f.number == XLINE_TIMESTAMP_NS && f.wire == VP_PB_VARINT)
            line.timestamp_ns = (int64_t)f.u;
    VP_TRY(vp_grow(&pl->lines, &pl->line_cap, pl->line_count + 1, sizeof line, VP_TRACKS_MAX));
    pl->lines[pl->line_count++] = line;
    return 0;
}

/* Walks the plane in the source: stores positions of lines, and copies the rest. */
static int plane_collect(xs_plane *pl, xs_window *w, vp_buf *b)
{
    int64_t at = pl->offset;
    xw_field f;
    for (;;) {
        int64_t from = at;
        int rc = xw_next(w, &at, pl->end, &f);
        if (rc == VP_ECORRUPT) {
            pl->damage = from;
            return f.overrun && f.number == XPLANE_LINES && f.wire == VP_PB_LEN
                       ? plane_add_line(pl, w, f.offset, pl->end)
                       : 0;
        }
        if (rc <= 0)
            return rc;
        if (f.number == XPLANE_LINES && f.wire == VP_PB_LEN)
            VP_TRY(plane_add_line(pl, w, f.offset, at));
        else
            VP_TRY(keep_field(w, b, from, at));
    }
}

static int add_plane_stat(xs_plane *pl, vp_str bytes)
{
    xs_stat_role role;
    xs_value v;
    if (xs_stat_decode(pl, bytes, &role, &v))
        pl->stats[role] = v;
    return 0;
}

static int index_fields(xs_plane *pl, uint32_t wanted, int (*add)(xs_plane *, vp_str))
{
    vp_pb r = vp_pb_of((vp_str){pl->bytes, pl->bytes_n});
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number != wanted || f.wire != VP_PB_LEN)
            continue;
        int rc = add(pl, f.data);
        if (rc == VP_ECORRUPT)
            pl->damage = pl->offset;
        else if (rc < 0)
            return rc;
    }
    return 0;
}

int xs_plane_read(xs_plane *pl, xs_window *w, int64_t offset, int64_t end, bool attrs,
                  bool launches)
{
    vp_buf b;
    vp_pb_field f;
    *pl = (xs_plane){
        .offset = offset, .end = end, .damage = -1, .attrs = attrs, .launches = launches};
    vp_buf_init(&b, VP_XPLANE_META_MAX);
    int rc = plane_collect(pl, w, &b);
    pl->bytes = rc < 0 ? NULL : vp_buf_take(&b, &pl->bytes_n);
    if (!pl->bytes) {
        vp_buf_free(&b);
        return rc < 0 ? rc : vp_no_memory();
    }
    vp_pb r = vp_pb_of((vp_str){pl->bytes, pl->bytes_n});
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == XPLANE_ID && f.wire == VP_PB_VARINT)
            pl->id = (int64_t)f.u;
        else if (f.number == XPLANE_NAME && f.wire == VP_PB_LEN)
            pl->name = f.data;
    }
    pl->is_metadata = vp_str_eq(pl->name, VP_STR("/host:metadata"));
    VP_TRY(index_fields(pl, XPLANE_STAT_METADATA, add_stat_meta));
    if (pl->graphs && !pl->attrs) /* graphs affect which other stats are wanted, in any order */
        VP_TRY(index_fields(pl, XPLANE_STAT_METADATA, add_stat_meta));
    VP_TRY(index_fields(pl, XPLANE_EVENT_METADATA, add_event_meta));
    VP_TRY(index_fields(pl, XPLANE_STATS, add_plane_stat));
    return make_dense(pl);
}

void xs_plane_free(xs_plane *pl)
{
    vp_free(pl->bytes);
    vp_free(pl->lines);
    vp_free(pl->meta);
    vp_free(pl->meta_dense);
    vp_free(pl->stat_names);
    vp_free(pl->stat_roles);
    vp_map_free(&pl->meta_by_id);
    vp_map_free(&pl->stat_by_id);
    *pl = (xs_plane){0};
}

bool xs_stat_decode(const xs_plane *pl, vp_str stat, xs_stat_role *role, xs_value *out)
{
    vp_pb r = vp_pb_of(stat);
    vp_pb_field f;
    int64_t id = 0;
    int rc;
    *out = (xs_value){0};
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == XSTAT_METADATA_ID && f.wire == VP_PB_VARINT)
            id = (int64_t)f.u;
        else if (f.number >= XSTAT_DOUBLE_VALUE && f.number <= XSTAT_REF_VALUE)
            *out = (xs_value){f.u, f.wire == VP_PB_LEN ? f.data : VP_STR_NONE, (uint8_t)f.number};
    }
    *role = xs_plane_role(pl, id);
    if (out->wire == XSTAT_REF_VALUE) {
        uint32_t i = vp_map_get(&pl->stat_by_id, out->u);
        out->text = i == VP_MAP_NONE ? VP_STR_NONE : pl->stat_names[i];
    }
    return rc == 0;
}

int64_t xs_value_i64(const xs_value *v)
{
    int64_t out;
    double d;
    switch (v->wire) {
    case XSTAT_DOUBLE_VALUE:
        memcpy(&d, &v->u, sizeof d);
        return d >= 0 && d < 9.2e18 ? (int64_t)d : SINK_UNKNOWN;
    case XSTAT_UINT64_VALUE:
    case XSTAT_INT64_VALUE:
        return (int64_t)v->u;
    case XSTAT_STR_VALUE:
    case XSTAT_REF_VALUE:
        return vp_str_to_i64(v->text, &out) ? out : SINK_UNKNOWN;
    default:
        return SINK_UNKNOWN;
    }
}

int64_t xs_value_times(const xs_value *v, int64_t factor)
{
    int64_t n = xs_value_i64(v), product;
    double d;
    if (v->wire == XSTAT_DOUBLE_VALUE) {
        memcpy(&d, &v->u, sizeof d);
        d *= (double)factor;
        return d >= 0 && d < 9.2e18 ? (int64_t)d : SINK_UNKNOWN;
    }
    return n < 0 || __builtin_mul_overflow(n, factor, &product) ? SINK_UNKNOWN : product;
}

bool xs_meta_decode(const xs_plane *pl, vp_str bytes, vp_str *name, vp_str *display,
                    xs_value stats[XS_STAT_ROLES])
{
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    int rc;
    *name = *display = VP_STR_NONE;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        xs_stat_role role;
        xs_value v;
        if (f.wire != VP_PB_LEN)
            continue;
        if (f.number == XEVENTMETADATA_NAME)
            *name = f.data;
        else if (f.number == XEVENTMETADATA_DISPLAY_NAME)
            *display = f.data;
        else if (f.number == XEVENTMETADATA_STATS && stats && xs_stat_decode(pl, f.data, &role, &v))
            stats[role] = v;
    }
    return rc == 0;
}
