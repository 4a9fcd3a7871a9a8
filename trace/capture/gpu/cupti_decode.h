/* CUPTI's activity records, read by the offsets of their fields: those are the same in every
 * version of each struct from CUDA 9 to 13 (tests/peers holds them against CUPTI's own headers), so
 * no header and no struct of theirs is needed. Pure: bytes in, records out. Only this room
 * includes it. */
#ifndef VP_CAPTURE_CUPTI_DECODE_H
#define VP_CAPTURE_CUPTI_DECODE_H

#include "trace/capture/gpu/gpu_activity.h"

/* CUpti_ActivityKind, as far as we ask for them. */
enum {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_KERNEL = 3,
    CUPTI_KIND_DRIVER = 4,
    CUPTI_KIND_RUNTIME = 5,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_OVERHEAD = 17,
    CUPTI_KIND_MEMCPY2 = 22
};

/* A field of a record, by the names of CUPTI's headers; the last row of a table has no record.
 * Tests compare the table with the headers. */
typedef struct cupti_field {
    const char *record; /* "Kernel": CUpti_ActivityKernel4 and later ones */
    const char *field;
    unsigned offset, size; /* bytes */
} cupti_field;
extern const cupti_field cupti_fields[];

/* CUPTI's clock as Unix ns: both were read at two moments. If the two pairs are equal, only the
 * offset is known. */
typedef struct cupti_clock {
    int64_t device0, unix0, device1, unix1;
} cupti_clock;
#define CUPTI_CLOCK_UNIX                                                                           \
    (cupti_clock)                                                                                  \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }
int64_t cupti_clock_unix(const cupti_clock *c, uint64_t device_ns);

/* Steps through a buffer, as cuptiActivityGetNextRecord does. *record is NULL before the first. 0:
 * a record; CUPTI_RECORDS_END (CUPTI_ERROR_MAX_LIMIT_REACHED): the end; anything else: a record
 * that is invalid or incomplete, beyond which nobody can step. */
#define CUPTI_RECORDS_END 12
typedef int cupti_next_fn(uint8_t *buffer, size_t valid, void **record);
/* The name of a call by CUPTI's number of it, or NULL; driver or runtime. */
typedef const char *cupti_call_name_fn(bool runtime, uint32_t id);

/* Adds all records of a buffer that started at or after `from` (Unix ns) to a. name may be NULL.
 * What does not follow the rules is counted in a and not added. */
void cupti_decode(gpu_activity *a, uint8_t *buffer, size_t valid, const cupti_clock *clock,
                  int64_t from, cupti_next_fn *next, cupti_call_name_fn *name);

/* Without CUPTI's suffix: "cudaLaunchKernel_v7000" → "cudaLaunchKernel". NULL gives "". */
vp_str cupti_plain_name(const char *name);

#endif
