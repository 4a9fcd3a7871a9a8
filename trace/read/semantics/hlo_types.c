#include "trace/read/semantics/hlo_types.h"

#include <stdbool.h>

typedef struct hlo_type {
    char name[15];
    uint8_t bits;
} hlo_type;

static const hlo_type types[] = {
    [1] = {"pred", 8},
    [2] = {"s8", 8},
    [3] = {"s16", 16},
    [4] = {"s32", 32},
    [5] = {"s64", 64},
    [6] = {"u8", 8},
    [7] = {"u16", 16},
    [8] = {"u32", 32},
    [9] = {"u64", 64},
    [10] = {"f16", 16},
    [HLO_TYPE_F32] = {"f32", 32},
    [HLO_TYPE_F64] = {"f64", 64},
    [HLO_TYPE_TUPLE] = {"tuple", 0},
    [14] = {"opaque", 0},
    [15] = {"c64", 64},
    [HLO_TYPE_BF16] = {"bf16", 16},
    [17] = {"token", 0},
    [18] = {"c128", 128},
    [19] = {"f8e5m2", 8},
    [20] = {"f8e4m3fn", 8},
    [21] = {"s4", 4},
    [22] = {"u4", 4},
    [23] = {"f8e4m3b11fnuz", 8},
    [24] = {"f8e5m2fnuz", 8},
    [25] = {"f8e4m3fnuz", 8},
    [26] = {"s2", 2},
    [27] = {"u2", 2},
    [28] = {"f8e4m3", 8},
    [29] = {"f8e3m4", 8},
    [30] = {"s1", 1},
    [31] = {"u1", 1},
    [32] = {"f4e2m1fn", 4},
    [33] = {"f8e8m0fnu", 8},
    [34] = {"buffer", 0},
    [35] = {"f6e3m2fn", 6},
    [36] = {"f6e2m3fn", 6},
};

static const hlo_type *hlo_type_row(int64_t type)
{
    static const hlo_type none = {"?", 0};
    bool known = type > 0 && type < (int64_t)(sizeof types / sizeof *types) && types[type].name[0];
    return known ? &types[type] : &none;
}

const char *hlo_type_name(int64_t type)
{
    return hlo_type_row(type)->name;
}

int hlo_type_bits(int64_t type)
{
    return hlo_type_row(type)->bits;
}
