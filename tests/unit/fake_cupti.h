/* What tests tell the stand-in for libcupti.so (fake_cupti.c), through its variable `fake_cupti`.
 */
#ifndef VP_TEST_FAKE_CUPTI_H
#define VP_TEST_FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_cupti_plan {
    uint32_t version;
    int subscribe_result, enable_result, only_kind; /* enable_result: of only_kind, 0: of all */
    bool no_timestamp_callback; /* its own clock then: Unix time / 2, another unit to us */
    unsigned kernels;           /* that flushing by force hands over, in buffers as they come */
    unsigned finished;          /* the first so many, which flushing without force hands over */
    unsigned per_buffer;        /* that go into one buffer at most; 0: what fits */
    bool running;               /* those that are not finished run: no end when told by force */
    bool hold;                  /* never gives a buffer back before all are asked for */
    size_t dropped;             /* that it says it had no room for, once */
    void (*on_flush)(void);     /* called when it is flushed by force; NULL: nothing */
    /* What it saw. */
    unsigned enabled, disabled, flushes, subscribers, buffers;
    unsigned shared; /* buffers that it was given while it had them */
    uint64_t off;    /* kinds that were disabled, a bit each */
    unsigned told;   /* kernels that it handed over */
} fake_cupti_plan;

#endif
