/* Peak rates of a device: dense FLOP/s by data type, and bytes/s of main memory. Nothing is owned.
 * Sources in order: the user; for a TPU, or a GPU whose profile has a peak, the profile; the
 * longest matching row of the table by device name; the row with the same compute capability,
 * number of cores and memory; cores x clock x rate of the generation, with the bandwidth of the
 * profile. Otherwise it is unknown. The bandwidth of the profile is used only without a table row,
 * because some profilers write half of it. Table: docs/reference/memory-and-mfu.md#peaks. */
#ifndef VP_ANALYZE_PEAKS_H
#define VP_ANALYZE_PEAKS_H

#include "trace/analyze/result/host_result.h"

typedef struct peaks {
    const char *chip; /* name in the table; NULL */
    vp_peak_source source, bandwidth_source;
    bool uncertain;
    int64_t gflops[VP_DTYPES]; /* 0: no such unit, or unknown */
    int64_t mb_s;              /* 0: unknown */
    int64_t cores;             /* number of cores that run tiles concurrently; 0: unknown */
    int64_t memory_bytes;      /* 0: unknown */
    int64_t mxu;               /* rows and columns of a TPU's matrix unit; 0: none */
} peaks;

/* model: the product name of the device, may be empty. */
void peaks_choose(peaks *out, vp_str model, const sink_chip *told, const peak_wish *wish);
/* The peak for matmuls of this type. If the device has no unit for the type, the peak of the type
 * that it uses instead. UNKNOWN: its common 16-bit type. 0: unknown. */
int64_t peaks_of(const peaks *p, vp_dtype type);
/* True if a row has this name, ignoring case: its own, or that of a device. */
bool peaks_know(const char *chip);

#endif
