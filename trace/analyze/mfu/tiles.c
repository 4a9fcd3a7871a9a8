#include "trace/analyze/mfu/tiles.h"

typedef unsigned __int128 wide;

#define SIDE_MAX (INT64_C(1) << 40)

static bool is_shape(const product_shape *s)
{
    const int64_t v[] = {s->m, s->n, s->k, s->batch};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        if (v[i] <= 0 || v[i] > SIDE_MAX)
            return false;
    return true;
}

static int64_t divide_round_up(int64_t v, int64_t side)
{
    return v / side + (v % side != 0);
}

/* v x part / whole. */
static int64_t scale_by_ratio(int64_t v, wide part, wide whole)
{
    if (v <= 0)
        return 0;
    while (part >> 60 || whole >> 60) { /* so that the product fits */
        part >>= 1;
        whole >>= 1;
    }
    wide out = whole ? (wide)v * part / whole : INT64_MAX;
    return out > INT64_MAX ? INT64_MAX : (int64_t)out;
}

int64_t tile_scaled(int64_t v, int64_t part, int64_t whole)
{
    return part > 0 && whole > 0 ? scale_by_ratio(v, (wide)part, (wide)whole) : v;
}

int64_t mxu_padded(int64_t flops, const product_shape *s, int64_t side)
{
    if (!is_shape(s) || side <= 0)
        return flops;
    int64_t out = tile_scaled(flops, divide_round_up(s->m, 8) * 8, s->m);
    out = tile_scaled(out, divide_round_up(s->k, side) * side, s->k);
    return tile_scaled(out, divide_round_up(s->n, side) * side, s->n);
}

static int64_t in_tiles(int64_t flops, const product_shape *s, int64_t m, int64_t n, int64_t cores)
{
    wide tiles = (wide)divide_round_up(s->m, m) * (wide)divide_round_up(s->n, n) * (wide)s->batch;
    wide at_once = cores > 0 ? (wide)cores : 1, waves = tiles / at_once;
    waves += tiles % at_once != 0;
    tiles = waves * at_once;
    wide whole = (wide)s->m * (wide)s->n, part = (wide)m * (wide)n;
    /* tiles x m x n of batch x M x N */
    return scale_by_ratio(scale_by_ratio(flops, tiles, (wide)s->batch), part, whole);
}

int64_t tile_padded(int64_t flops, const product_shape *s, gpu_tile tile, int64_t cores)
{
    if (!tile.m || !tile.n || !is_shape(s))
        return flops;
    product_shape of = *s;
    of.batch *= tile.split ? tile.split : 1;
    int64_t a = in_tiles(flops, &of, tile.m, tile.n, tile.split ? cores : 0);
    int64_t b = in_tiles(flops, &of, tile.n, tile.m, tile.split ? cores : 0);
    int64_t least = a < b ? a : b;
    return least > flops ? least : flops;
}

/* ---- Names of kernels ---- */

#define TILE_MIN 16u
#define TILE_MAX 512u

static bool is_tile_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "128x64" at the start, each a valid side of a tile. */
static bool sides_at(gpu_tile *t, vp_str s)
{
    uint64_t m, n;
    if (!vp_take_uint(&s, 100000, &m) || !s.n || *s.p != 'x')
        return false;
    s = vp_str_skip(s, 1);
    if (!vp_take_uint(&s, 100000, &n) || (s.n && is_tile_letter(*s.p) && *s.p != 'x'))
        return false;
    if (m < TILE_MIN || m > TILE_MAX || n < TILE_MIN || n > TILE_MAX)
        return false;
    *t = (gpu_tile){(uint16_t)m, (uint16_t)n, 1};
    return true;
}

static bool sides_behind(gpu_tile *t, vp_str name, vp_str key)
{
    size_t at = vp_str_find(name, key);
    return at < name.n && sides_at(t, vp_str_skip(name, at + key.n));
}

static bool kernel_name_contains(vp_str name, vp_str part)
{
    return vp_str_find_nocase(name, part) < name.n;
}

/* NVIDIA's libraries write the tile after the types: "…_s16816gemm_bf16_128x64_64x6_…". */
static bool first_sides(gpu_tile *t, vp_str name)
{
    for (size_t at = 0; at + 1 < name.n; at++)
        if (name.p[at] == '_' && sides_at(t, vp_str_skip(name, at + 1)))
            return true;
    return false;
}

static uint16_t split_of(vp_str name)
{
    /* "UserArgs": a kernel of Tensile that gets it at launch */
    const vp_str unknown[] = {VP_STR("userargs"),  VP_STR("splitk"),   VP_STR("split_k"),
                              VP_STR("stream_k"),  VP_STR("streamk"),  VP_STR("_sk1"),
                              VP_STR("_sk2"),      VP_STR("_sk3"),     VP_STR("segment_k_on"),
                              VP_STR("sliced1x2"), VP_STR("sliced2x2")};
    size_t at = vp_str_find(name, VP_STR("_GSU"));
    uint64_t parts = 1;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (kernel_name_contains(name, unknown[i]))
            return 0;
    if (at < name.n) {
        vp_str rest = vp_str_skip(name, at + 4);
        if (!vp_take_uint(&rest, 1000, &parts) || !parts)
            parts = 1; /* "_GSUAMB": another field */
    }
    return (uint16_t)parts;
}

gpu_tile tile_of_kernel(vp_str name)
{
    gpu_tile t = {0};
    bool told = sides_behind(&t, name, VP_STR("_MT")) ||
                sides_behind(&t, name, VP_STR("tilesize")) ||
                sides_behind(&t, name, VP_STR("_bt")) ||
                ((kernel_name_contains(name, VP_STR("gemm")) ||
                  kernel_name_contains(name, VP_STR("nvjet")) ||
                  kernel_name_contains(name, VP_STR("fprop")) ||
                  kernel_name_contains(name, VP_STR("dgrad")) ||
                  kernel_name_contains(name, VP_STR("wgrad"))) &&
                 first_sides(&t, name));
    if (!told)
        return (gpu_tile){0};
    t.split = split_of(name);
    return t;
}
