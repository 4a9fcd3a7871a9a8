#include "trace/read/semantics/replica_groups.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"

/* ---- Parsing ---- */

static bool skip_prefix_if(vp_str *s, vp_str what)
{
    if (!vp_str_starts(*s, what))
        return false;
    *s = vp_str_skip(*s, what.n);
    return true;
}

/* Parses comma-separated numbers up to and including `close`. Returns their count; 0: none,
 * malformed, or more than max. */
static uint32_t take_numbers(vp_str *s, uint32_t *out, uint32_t max, vp_str close)
{
    for (uint32_t n = 0; n < max;) {
        uint64_t v;
        if (!vp_take_uint(s, VP_GROUP_DEVICES_MAX, &v))
            return 0;
        out[n++] = (uint32_t)v;
        if (skip_prefix_if(s, close))
            return n;
        if (!skip_prefix_if(s, VP_STR(",")))
            return 0;
    }
    return 0;
}

static bool is_axis_order(const uint32_t *turn, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (turn[i] >= n || seen >> turn[i] & 1u)
            return false;
        seen |= 1u << turn[i];
    }
    return true;
}

/* The product of the sides; 0: above VP_GROUP_DEVICES_MAX. */
static uint32_t box_volume(const uint32_t *sides, uint32_t n)
{
    uint64_t v = 1;
    for (uint32_t i = 0; i < n && v; i++)
        v = v * sides[i] <= VP_GROUP_DEVICES_MAX ? v * sides[i] : 0;
    return (uint32_t)v;
}

/* Parses an iota list such as "4,2]<=[2,4]T(1,0)". */
static bool parse_box(rg_groups *g, vp_str s)
{
    uint32_t shape[2];
    if (take_numbers(&s, shape, 2, VP_STR("]<=[")) != 2)
        return false;
    g->count = shape[0];
    g->size = shape[1];
    g->dims = take_numbers(&s, g->dim, RG_DIMS_MAX, VP_STR("]"));
    for (uint32_t i = 0; i < g->dims; i++)
        g->turn[i] = i;
    if (skip_prefix_if(&s, VP_STR("T(")) &&
        take_numbers(&s, g->turn, g->dims, VP_STR(")")) != g->dims)
        return false;
    uint32_t n = box_volume(shape, 2);
    return g->dims && n && n == box_volume(g->dim, g->dims) && is_axis_order(g->turn, g->dims);
}

/* Parses one "{0,4}" at the front of *s. Returns the number of ids (0: malformed); *holds is set if
 * `id` is one of them. out may be NULL. */
static uint32_t take_group(vp_str *s, uint32_t id, bool *holds, int64_t *out)
{
    *holds = false;
    if (!skip_prefix_if(s, VP_STR("{")))
        return 0;
    for (uint32_t n = 0; n < VP_GROUP_DEVICES_MAX;) {
        uint64_t v;
        if (!vp_take_uint(s, VP_GROUP_DEVICES_MAX, &v))
            return 0;
        *holds = *holds || v == id;
        if (out)
            out[n] = (int64_t)v;
        n++;
        if (skip_prefix_if(s, VP_STR("}")))
            return n;
        if (!skip_prefix_if(s, VP_STR(",")))
            return 0;
    }
    return 0;
}

/* Parses a list such as "{0,1},{2,3}}"; other text may follow. */
static bool parse_list(rg_groups *g, vp_str s)
{
    bool holds;
    uint64_t ids = 0;
    vp_str start = s;
    do {
        uint32_t n = take_group(&s, 0, &holds, NULL);
        g->size = g->count++ ? g->size : n;
        ids += n;
        if (!n || ids > VP_GROUP_DEVICES_MAX)
            return false;
    } while (skip_prefix_if(&s, VP_STR(",")));
    g->list = vp_str_head(start, (size_t)(s.p - start.p));
    return vp_str_starts(s, VP_STR("}"));
}

static bool group_text_contains(vp_str text, vp_str what)
{
    return vp_str_find(text, what) < text.n;
}

/* True if the opcode has channels but no use_global_device_ids, which would define the meaning of a
 * channel. Then it joins partitions. */
static bool joins_partitions(vp_str opcode)
{
    return group_text_contains(opcode, VP_STR("all-to-all")) ||
           group_text_contains(opcode, VP_STR("collective-broadcast"));
}

bool rg_parse(rg_groups *out, vp_str opcode, vp_str text)
{
    static const vp_str key = VP_STR_INIT("replica_groups=");
    size_t at = vp_str_find(text, key);
    vp_str s = vp_str_skip(text, at + key.n);
    rg_groups g = {.count = 0};
    if (at >= text.n)
        return false;
    bool good = skip_prefix_if(&s, VP_STR("{"))
                    ? parse_list(&g, s)
                    : skip_prefix_if(&s, VP_STR("[")) && parse_box(&g, s);
    bool channel = group_text_contains(text, VP_STR("channel_id=")),
         global = group_text_contains(text, VP_STR("use_global_device_ids=true"));
    g.mode = !channel                   ? RG_REPLICAS
             : global                   ? RG_FLAT
             : joins_partitions(opcode) ? RG_PARTITIONS
                                        : RG_OTHER;
    *out = g;
    return good;
}

/* ---- Members of a group ---- */

/* The position of id in the transposed array. Divided by the size of a group it gives the group. */
static uint32_t place_in_box(const rg_groups *g, uint32_t id)
{
    uint32_t at[RG_DIMS_MAX], place = 0;
    for (uint32_t i = g->dims; i-- > 0; id /= g->dim[i])
        at[i] = id % g->dim[i];
    for (uint32_t i = 0; i < g->dims; i++)
        place = place * g->dim[g->turn[i]] + at[g->turn[i]];
    return place;
}

static uint32_t id_in_box(const rg_groups *g, uint32_t place)
{
    uint32_t at[RG_DIMS_MAX], id = 0;
    for (uint32_t i = g->dims; i-- > 0; place /= g->dim[g->turn[i]])
        at[g->turn[i]] = place % g->dim[g->turn[i]];
    for (uint32_t i = 0; i < g->dims; i++)
        id = id * g->dim[i] + at[i];
    return id;
}

/* Writes the ids of the group that contains `id` to out, and returns their number; 0: no group
 * does. */
static uint32_t ids_beside(int64_t *out, const rg_groups *g, uint32_t id)
{
    if (!g->list.n) {
        if (id >= g->count * g->size)
            return 0;
        uint32_t first = place_in_box(g, id) / g->size * g->size;
        for (uint32_t i = 0; i < g->size; i++)
            out[i] = id_in_box(g, first + i);
        return g->size;
    }
    vp_str s = g->list;
    do {
        bool holds;
        uint32_t n = take_group(&s, id, &holds, out);
        if (!n || holds)
            return n;
    } while (skip_prefix_if(&s, VP_STR(",")));
    return 0;
}

static int by_device_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

uint32_t rg_members(int64_t *out, const rg_groups *g, const rg_program *p, int64_t device)
{
    uint32_t all = p->replicas * p->partitions, own = 0;
    while (own < all && p->devices[own] != device)
        own++;
    if (own == all || g->mode == RG_OTHER)
        return 0;
    uint32_t replica = own / p->partitions, partition = own % p->partitions;
    uint32_t step = g->mode == RG_REPLICAS ? p->partitions : 1;
    uint32_t first = g->mode == RG_REPLICAS     ? partition
                     : g->mode == RG_PARTITIONS ? replica * p->partitions
                                                : 0;
    uint32_t ids = g->mode == RG_REPLICAS     ? p->replicas
                   : g->mode == RG_PARTITIONS ? p->partitions
                                              : all;
    uint32_t n = ids_beside(out, g, (own - first) / step);
    for (uint32_t i = 0; i < n; i++) {
        if (out[i] >= ids)
            return 0;
        out[i] = p->devices[first + (uint32_t)out[i] * step];
    }
    qsort(out, n, sizeof *out, by_device_id);
    for (uint32_t i = 1; i < n; i++)
        if (out[i] == out[i - 1])
            return 0;
    return n;
}

/* ---- Programs ---- */

bool rg_program_parse(rg_program *out, int64_t *devices, vp_str s)
{
    uint64_t replicas, partitions, id;
    if (!vp_take_uint(&s, VP_GROUP_DEVICES_MAX, &replicas) || !skip_prefix_if(&s, VP_STR("x")) ||
        !vp_take_uint(&s, VP_GROUP_DEVICES_MAX, &partitions) || !replicas || !partitions ||
        replicas * partitions > VP_GROUP_DEVICES_MAX)
        return false;
    for (uint64_t i = 0; i < replicas * partitions; i++) {
        if (!skip_prefix_if(&s, i ? VP_STR(",") : VP_STR(":")) || !vp_take_uint(&s, INT64_MAX, &id))
            return false;
        devices[i] = (int64_t)id;
    }
    *out = (rg_program){(uint32_t)replicas, (uint32_t)partitions, devices};
    return !s.n;
}

/* ---- Members as text ---- */

/* Length of the initial run of ids with equal distances. */
static uint32_t run_of(const int64_t *ids, uint32_t n)
{
    uint32_t run = n < 2 ? n : 2;
    while (run < n && run >= 2 && ids[run] - ids[run - 1] == ids[1] - ids[0])
        run++;
    return run;
}

int rg_put_members(vp_buf *b, const int64_t *ids, uint32_t n)
{
    const char *sep = "";
    for (uint32_t i = 0, run; i < n; i += run, sep = ",") {
        run = run_of(ids + i, n - i);
        run = run < 3 ? 1 : run;
        VP_TRY(vp_buf_printf(b, "%s%lld", sep, (long long)ids[i]));
        if (run == 1)
            continue;
        VP_TRY(vp_buf_printf(b, "-%lld", (long long)ids[i + run - 1]));
        if (ids[i + 1] - ids[i] != 1)
            VP_TRY(vp_buf_printf(b, ":%lld", (long long)(ids[i + 1] - ids[i])));
    }
    return 0;
}
