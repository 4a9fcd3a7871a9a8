#include "trace/analyze/mfu/peaks.h"

#include <math.h>
#include <string.h>

/* Names are parts of device names, in lower case, separated by '|'; GFLOP/s, MB/s, GiB. A row
 * describes a device of a profile: a core of TPU v2, v3 and 7x, a die of an MI250. A '?' at the
 * start of the names: some value of the row is uncertain. */
typedef struct chip_row {
    const char *name, *names;
    uint32_t f32, tf32, bf16, f16, f8, i8, mb_s;
    uint16_t gib, cores;
    uint8_t major, minor;
    uint16_t mxu; /* rows and columns of a TPU's matrix unit */
} chip_row;

static const chip_row rows[] = {
    {"TPU v2", "?tpu v2", 0, 0, 22500, 0, 0, 0, 300000, 8, 0, 0, 0, 128},
    {"TPU v3", "tpu v3", 0, 0, 61500, 0, 0, 0, 450000, 16, 0, 0, 0, 128},
    {"TPU v4", "tpu v4", 0, 0, 275000, 0, 0, 275000, 1228000, 32, 0, 0, 0, 128},
    {"TPU v5e", "tpu v5 lite|tpu v5e", 0, 0, 197000, 0, 0, 393000, 819000, 16, 0, 0, 0, 128},
    {"TPU v5p", "tpu v5", 0, 0, 459000, 0, 459000, 918000, 2765000, 95, 0, 0, 0, 128},
    {"TPU v6e", "tpu v6 lite|tpu v6e", 0, 0, 918000, 0, 918000, 1836000, 1638000, 32, 0, 0, 0, 256},
    {"TPU7x", "tpu7x|tpu v7", 0, 0, 1153500, 0, 2307000, 0, 3690000, 96, 0, 0, 0, 256},
    {"V100", "v100-sxm2|v100-dgxs|v100", 15700, 0, 0, 125300, 0, 62700, 900000, 16, 80, 7, 0, 0},
    {"V100 32GB", "v100-sxm2-32gb|v100-dgxs-32gb|v100-sxm3", 15700, 0, 0, 125300, 0, 62700, 900000,
     32, 80, 7, 0, 0},
    {"T4", "tesla t4", 8100, 0, 0, 65100, 0, 130300, 320000, 16, 40, 7, 5, 0},
    {"A100 40GB", "a100-sxm4-40gb|a100-pcie-40gb|a100-pg509|pg509-210|a100", 19500, 155900, 311900,
     311900, 0, 623700, 1555000, 40, 108, 8, 0, 0},
    {"A100 80GB", "a100-sxm4-80gb|a100-sxm-80gb", 19500, 155900, 311900, 311900, 0, 623700, 2039000,
     80, 108, 8, 0, 0},
    {"A100 PCIe 80GB", "a100 80gb pcie|a100-pcie-80gb", 19500, 155900, 311900, 311900, 0, 623700,
     1935000, 80, 108, 8, 0, 0},
    {"H100 SXM", "h100 80gb hbm3|h100 sxm", 66900, 494700, 989400, 989400, 1978900, 1978900,
     3352000, 80, 132, 9, 0, 0},
    {"H100", "?h100", 66900, 494700, 989400, 989400, 1978900, 1978900, 3352000, 96, 132, 9, 0, 0},
    {"H100 PCIe", "h100 pcie", 51200, 378000, 756000, 756000, 1513000, 1513000, 2039000, 80, 114, 9,
     0, 0},
    {"H100 NVL", "h100 nvl", 60000, 418000, 835000, 835000, 1671000, 1671000, 3938000, 94, 132, 9,
     0, 0},
    {"H200", "h200", 66900, 494700, 989400, 989400, 1978900, 1978900, 4800000, 141, 132, 9, 0, 0},
    {"B200", "?b200", 75000, 1125000, 2250000, 2250000, 4500000, 4500000, 8000000, 180, 148, 10, 0,
     0},
    {"B300", "?b300", 75000, 1125000, 2250000, 2250000, 4500000, 0, 8000000, 288, 148, 10, 3, 0},
    {"L4", "nvidia l4", 30300, 60600, 121200, 121200, 242300, 242300, 300000, 24, 58, 8, 9, 0},
    {"L40S", "nvidia l40s|l40s", 91600, 183000, 362100, 362100, 733000, 733000, 864000, 48, 142, 8,
     9, 0},
    /* f16 with f32 accumulation, as used by frameworks */
    {"RTX 4090", "rtx 4090", 82600, 82600, 165200, 165200, 330300, 660600, 1008000, 24, 128, 8, 9,
     0},
    {"MI210", "mi210", 45300, 0, 181000, 181000, 0, 181000, 1638000, 64, 104, 9, 0, 0},
    {"MI250X", "mi250", 47850, 0, 191500, 191500, 0, 191500, 1638500, 64, 110, 9, 0, 0},
    {"MI300X", "mi300x", 163400, 653700, 1307400, 1307400, 2614900, 2614900, 5325000, 192, 304, 9,
     4, 0},
    {"MI325X", "mi325x", 163400, 653700, 1307400, 1307400, 2614900, 2614900, 6000000, 256, 304, 9,
     4, 0},
    {"MI350X", "?mi350x", 144700, 0, 2315300, 2315300, 4630500, 4630500, 8000000, 288, 256, 9, 5,
     0},
    {"MI355X", "mi355x", 157300, 0, 2516600, 2516600, 5033200, 5033200, 8000000, 288, 256, 9, 5, 0},
};
#define ROWS (sizeof rows / sizeof *rows)

/* FLOP a core and cycle, of the widest type with a dense unit
 * (docs/reference/memory-and-mfu.md#peaks). */
static const struct {
    uint8_t major, minor;
    uint16_t flops;
} rates[] = {{10, 0, 8192}, {9, 5, 4096}, {9, 4, 2048}, {9, 0, 4096}, {8, 9, 1024}, {8, 6, 1024},
             {8, 0, 2048},  {7, 5, 1024}, {7, 0, 1024}, {6, 1, 256},  {6, 0, 256}};

static bool contains_nocase(vp_str text, vp_str part)
{
    return part.n && vp_str_find_nocase(text, part) < text.n;
}

/* Length of the longest of the row's names that the name contains; 0: none. */
static size_t chip_name_fit(const chip_row *row, vp_str model)
{
    vp_str names = vp_str_of(row->names), name;
    size_t longest = 0;
    if (names.n && *names.p == '?')
        names = vp_str_skip(names, 1);
    while (names.n && vp_take_until(&names, '|', names.n, &name))
        if (name.n > longest && contains_nocase(model, name))
            longest = name.n;
    return longest;
}

static const chip_row *chip_by_name(vp_str model)
{
    const chip_row *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (chip_name_fit(&rows[i], model) > longest) {
            longest = chip_name_fit(&rows[i], model);
            best = &rows[i];
        }
    return best;
}

static const chip_row *by_own_name(const char *chip)
{
    for (size_t i = 0; i < ROWS; i++)
        if (vp_str_eq_nocase(vp_str_of(rows[i].name), vp_str_of(chip)))
            return &rows[i];
    return chip_by_name(vp_str_of(chip));
}

/* Memory within 5%: the size of the driver's reserve is unknown. */
static const chip_row *by_figures(const sink_chip *c)
{
    for (size_t i = 0; i < ROWS; i++) {
        const chip_row *r = &rows[i];
        double has = (double)r->gib * 1073741824.0, off = fabs((double)c->memory_bytes - has);
        if (r->cores && r->cores == c->cores && r->major == c->major && r->minor == c->minor &&
            off <= has * 0.05)
            return r;
    }
    return NULL;
}

static void use_row(peaks *p, const chip_row *r, vp_peak_source source)
{
    p->chip = r->name;
    p->source = p->bandwidth_source = source;
    p->uncertain = *r->names == '?';
    p->gflops[VP_DTYPE_F32] = r->f32;
    p->gflops[VP_DTYPE_TF32] = r->tf32;
    p->gflops[VP_DTYPE_BF16] = r->bf16;
    p->gflops[VP_DTYPE_F16] = r->f16;
    p->gflops[VP_DTYPE_F8] = r->f8;
    p->gflops[VP_DTYPE_I8] = r->i8;
    p->mb_s = r->mb_s;
    p->cores = r->cores;
    p->mxu = r->mxu;
    p->memory_bytes = (int64_t)r->gib << 30;
}

static void use_one(peaks *p, int64_t gflops, vp_peak_source source)
{
    p->source = source;
    memset(p->gflops, 0, sizeof p->gflops);
    p->gflops[VP_DTYPE_UNKNOWN] = gflops;
}

/* Cores x clock x the rate of the newest generation that is not newer. */
static void derive_peak(peaks *p, vp_str model, const sink_chip *c)
{
    int64_t cycles, gflops;
    bool amd = contains_nocase(model, VP_STR("amd")) || contains_nocase(model, VP_STR("radeon"));
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        if (c->major < rates[i].major || (c->major == rates[i].major && c->minor < rates[i].minor))
            continue;
        int64_t rate = amd && c->major == 9 && c->minor < 4 ? 1024 : rates[i].flops;
        if (!__builtin_mul_overflow(c->cores, c->khz, &cycles) &&
            !__builtin_mul_overflow(cycles, rate, &gflops) && gflops >= 1000000)
            use_one(p, gflops / 1000000, VP_PEAK_DERIVED);
        return;
    }
}

static void as_told(peaks *p, vp_str model, const sink_chip *told)
{
    const chip_row *row = chip_by_name(model);
    vp_peak_source source = VP_PEAK_NAME;
    if (!row) {
        row = by_figures(told);
        source = VP_PEAK_FIGURES;
    }
    if (row)
        use_row(p, row, source);
    else if (told->gflops <= 0)
        derive_peak(p, model, told);
    /* the profile's value for the common type does not apply to other types */
    if (told->gflops > 0 && told->gflops != p->gflops[VP_DTYPE_BF16])
        use_one(p, told->gflops, VP_PEAK_PLANE);
    if (told->gflops > 0)
        p->source = VP_PEAK_PLANE;
    if (told->mb_s > 0 && (!row || told->gflops > 0)) {
        p->mb_s = told->mb_s;
        p->bandwidth_source = VP_PEAK_PLANE;
    }
    if (told->cores > 0)
        p->cores = told->cores;
    if (told->memory_bytes > 0)
        p->memory_bytes = told->memory_bytes;
}

void peaks_choose(peaks *out, vp_str model, const sink_chip *told, const peak_wish *wish)
{
    const chip_row *row = wish->chip ? by_own_name(wish->chip) : NULL;
    *out = (peaks){0};
    if (row)
        use_row(out, row, VP_PEAK_CHIP);
    else
        as_told(out, model, told);
    if (wish->gflops > 0) {
        use_one(out, wish->gflops, VP_PEAK_USER);
        out->uncertain = false;
    }
    if (wish->mb_s > 0) {
        out->mb_s = wish->mb_s;
        out->bandwidth_source = VP_PEAK_USER;
    }
}

int64_t peaks_of(const peaks *p, vp_dtype type)
{
    static const uint8_t instead[VP_DTYPES][4] = {
        [VP_DTYPE_UNKNOWN] = {VP_DTYPE_BF16, VP_DTYPE_F16, VP_DTYPE_F32},
        [VP_DTYPE_F32] = {VP_DTYPE_BF16}, /* a TPU does them as bf16 */
        [VP_DTYPE_TF32] = {VP_DTYPE_F32},
        [VP_DTYPE_BF16] = {VP_DTYPE_F32},
        [VP_DTYPE_F16] = {VP_DTYPE_BF16, VP_DTYPE_F32},
        [VP_DTYPE_F8] = {VP_DTYPE_F16, VP_DTYPE_BF16, VP_DTYPE_F32},
        [VP_DTYPE_I8] = {VP_DTYPE_F16, VP_DTYPE_BF16, VP_DTYPE_F32},
    };
    if (p->gflops[VP_DTYPE_UNKNOWN])
        return p->gflops[VP_DTYPE_UNKNOWN]; /* one for all */
    int64_t v = p->gflops[type];
    for (size_t i = 0; !v && i < 4; i++)
        v = p->gflops[instead[type][i]];
    return v;
}

bool peaks_know(const char *chip)
{
    return by_own_name(chip) != NULL;
}
