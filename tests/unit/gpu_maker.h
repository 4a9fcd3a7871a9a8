/* Buffers of CUPTI activity records as CUDA 12 and 13 lay them out, for tests: written by the
 * offsets of docs/reference/recording.md#cupti-records, not by those of the code under test. */
#ifndef VP_TEST_GPU_MAKER_H
#define VP_TEST_GPU_MAKER_H

#include <stdint.h>
#include <string.h>

typedef struct gpu_buffer {
    _Alignas(8) uint8_t bytes[8192];
    size_t n;
} gpu_buffer;

static inline void gpu_u32(uint8_t *p, size_t at, uint32_t v)
{
    memcpy(p + at, &v, 4);
}
static inline void gpu_u64(uint8_t *p, size_t at, uint64_t v)
{
    memcpy(p + at, &v, 8);
}

/* Sizes of CUPTI 12.9: Kernel9, Memcpy6, MemcpyPtoP4, Memset4, API, Overhead3. */
static inline size_t gpu_record_size(uint32_t kind)
{
    switch (kind) {
    case 1:
    case 22:
        return 96;
    case 2:
        return 88;
    case 3:
    case 10:
        return 208;
    case 4:
    case 5:
        return 40;
    case 17:
        return 56;
    default:
        return 64;
    }
}

static inline uint8_t *gpu_put(gpu_buffer *b, uint32_t kind)
{
    uint8_t *p = b->bytes + b->n;
    b->n += gpu_record_size(kind);
    memset(p, 0, gpu_record_size(kind));
    gpu_u32(p, 0, kind);
    return p;
}

static inline uint8_t *gpu_put_kernel(gpu_buffer *b, const char *name, uint64_t start, uint64_t end,
                                      uint32_t device, uint32_t stream, uint32_t correlation)
{
    uint8_t *p = gpu_put(b, 10);
    uint16_t registers = 40;
    memcpy(p + 6, &registers, 2);
    gpu_u64(p, 16, start);
    gpu_u64(p, 24, end);
    gpu_u32(p, 40, device);
    gpu_u32(p, 44, 3);
    gpu_u32(p, 48, stream);
    for (uint32_t i = 0; i < 6; i++)
        gpu_u32(p, 52 + 4 * i, 10 + i);
    gpu_u32(p, 76, 1024);
    gpu_u32(p, 80, 2048);
    gpu_u32(p, 92, correlation);
    memcpy(p + 104, &name, 8);
    return p;
}

static inline uint8_t *gpu_put_copy(gpu_buffer *b, uint8_t kind, uint64_t bytes, uint64_t start,
                                    uint64_t end, uint32_t stream, uint32_t correlation)
{
    uint8_t *p = gpu_put(b, 1);
    p[4] = kind;
    p[5] = 1; /* pageable */
    p[6] = 3; /* device */
    p[7] = 1; /* asynchronous */
    gpu_u64(p, 8, bytes);
    gpu_u64(p, 16, start);
    gpu_u64(p, 24, end);
    gpu_u32(p, 32, 0);
    gpu_u32(p, 36, 3);
    gpu_u32(p, 40, stream);
    gpu_u32(p, 44, correlation);
    return p;
}

static inline uint8_t *gpu_put_call(gpu_buffer *b, uint32_t kind, uint32_t id, uint64_t start,
                                    uint64_t end, uint32_t tid, uint32_t correlation)
{
    uint8_t *p = gpu_put(b, kind);
    gpu_u32(p, 4, id);
    gpu_u64(p, 8, start);
    gpu_u64(p, 16, end);
    gpu_u32(p, 24, 99);
    gpu_u32(p, 28, tid);
    gpu_u32(p, 32, correlation);
    gpu_u32(p, 36, 0);
    return p;
}

/* As cuptiActivityGetNextRecord: steps by the size of each record's kind. */
static inline int gpu_next(uint8_t *buffer, size_t valid, void **record)
{
    uint8_t *p = *record;
    uint32_t kind;
    if (p)
        memcpy(&kind, p, 4);
    p = p ? p + gpu_record_size(kind) : buffer;
    if ((size_t)(p - buffer) >= valid)
        return 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED */
    *record = p;
    return 0;
}

#endif
