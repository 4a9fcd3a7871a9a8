/* Decoder of CUPTI's activity records by field offsets, which are the same in every version of each
 * struct from CUDA 9 to 13 (tests/peers compares them with CUPTI's headers). So no headers or
 * structs of CUPTI are needed. Pure: bytes in, records out; malformed records are counted. Private
 * to this module. */
#ifndef VP_CAPTURE_CUPTI_DECODE_H
#define VP_CAPTURE_CUPTI_DECODE_H

#include "trace/capture/gpu/gpu_activity.h"

/* The kinds of CUpti_ActivityKind that we request. */
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

/* A field of a record, with the names of CUPTI's headers; a table ends with record NULL. Tests
 * compare the table with the headers. */
typedef struct cupti_field {
    const char *record; /* "Kernel": CUpti_ActivityKernel4 and later */
    const char *field;
    unsigned offset, size; /* bytes */
} cupti_field;
extern const cupti_field cupti_fields[];

/* Conversion of CUPTI's clock to Unix ns, from readings of both clocks at two moments. If the two
 * pairs are equal, only the offset is known. */
typedef struct cupti_clock {
    int64_t device0, unix0, device1, unix1;
} cupti_clock;
#define CUPTI_CLOCK_UNIX                                                                           \
    (cupti_clock)                                                                                  \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }
int64_t cupti_clock_unix(const cupti_clock *c, uint64_t device_ns);

/* Iterates over a buffer like cuptiActivityGetNextRecord. *record is NULL before the first. 0: a
 * record; CUPTI_RECORDS_END (CUPTI_ERROR_MAX_LIMIT_REACHED): the end; otherwise: an invalid or
 * incomplete record, after which iteration is impossible. */
#define CUPTI_RECORDS_END 12
typedef int cupti_next_fn(uint8_t *buffer, size_t valid, void **record);
/* The name of a runtime or driver call by CUPTI's number, or NULL. */
typedef const char *cupti_call_name_fn(bool runtime, uint32_t id);

/* Adds all records of a buffer that started at or after `from` (Unix ns) to a. name may be NULL.
 * Invalid records are counted in a and not added. */
void cupti_decode(gpu_activity *a, uint8_t *buffer, size_t valid, const cupti_clock *clock,
                  int64_t from, cupti_next_fn *next, cupti_call_name_fn *name);

/* Removes CUPTI's suffix: "cudaLaunchKernel_v7000" → "cudaLaunchKernel". NULL gives "". */
vp_str cupti_plain_name(const char *name);

#endif
