#include "trace/analyze/result/result_words.h"

#include <stddef.h>

#include "include/view_profile.h"

const char *const result_cause_words[] = {[VP_CAUSE_COMPILE] = "compile",
                                          [VP_CAUSE_INPUT] = "input",
                                          [VP_CAUSE_CALLBACK] = "callback",
                                          [VP_CAUSE_SYNC] = "sync",
                                          [VP_CAUSE_TRANSFER] = "transfer",
                                          [VP_CAUSE_HOST] = "host",
                                          [VP_CAUSE_CALL] = "call",
                                          [VP_CAUSE_LATENCY] = "latency",
                                          [VP_CAUSE_PEER] = "peer",
                                          [VP_CAUSE_UNKNOWN] = "unknown",
                                          NULL};
_Static_assert(sizeof result_cause_words / sizeof *result_cause_words == VP_CAUSES + 1,
               "every cause");
const char *const result_activity_words[] = {
    [VP_ACTIVITY_COMPILE] = "compile", [VP_ACTIVITY_INPUT] = "input",       [VP_ACTIVITY_GC] = "gc",
    [VP_ACTIVITY_WRITE] = "write",     [VP_ACTIVITY_CALLBACK] = "callback", NULL};
_Static_assert(sizeof result_activity_words / sizeof *result_activity_words ==
                   VP_ACTIVITY_KINDS + 1,
               "every kind");
const char *const result_torch_words[] = {[VP_TORCH_READS] = "reads",
                                          [VP_TORCH_LOOP] = "loop",
                                          [VP_TORCH_FLOAT64] = "float64",
                                          [VP_TORCH_LAYOUT] = "layout",
                                          [VP_TORCH_GRADIENTS] = "gradients",
                                          [VP_TORCH_OPTIMIZER] = "optimizer",
                                          NULL};
_Static_assert(sizeof result_torch_words / sizeof *result_torch_words == VP_TORCH_KINDS + 1,
               "every kind");
const char *const result_cell_words[] = {[VP_CELL_USEFUL] = "useful",
                                         [VP_CELL_RECOMPUTE] = "recompute",
                                         [VP_CELL_PAD] = "pad",
                                         [VP_CELL_INEFFICIENCY] = "inefficiency",
                                         [VP_CELL_MEM_EXCESS] = "mem_excess",
                                         [VP_CELL_NM_MEMORY] = "nm_memory",
                                         [VP_CELL_NM_EXCESS] = "nm_excess",
                                         [VP_CELL_UNKNOWN] = "unknown",
                                         NULL};
_Static_assert(sizeof result_cell_words / sizeof *result_cell_words == VP_CELLS + 1, "every cell");
const char *const result_dtype_words[] = {
    [VP_DTYPE_UNKNOWN] = "unknown", [VP_DTYPE_F64] = "f64",   [VP_DTYPE_F32] = "f32",
    [VP_DTYPE_TF32] = "tf32",       [VP_DTYPE_BF16] = "bf16", [VP_DTYPE_F16] = "f16",
    [VP_DTYPE_F8] = "f8",           [VP_DTYPE_I8] = "i8",     NULL};
_Static_assert(sizeof result_dtype_words / sizeof *result_dtype_words == VP_DTYPES + 1,
               "every type");
const char *const result_level_words[] = {
    [VP_LEVEL_LOW] = "low", [VP_LEVEL_MEDIUM] = "medium", [VP_LEVEL_HIGH] = "high", NULL};
