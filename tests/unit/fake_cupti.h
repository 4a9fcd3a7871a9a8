/* Settings of the stand-in for libcupti.so (fake_cupti.c), in its variable `fake_cupti`. */
#ifndef VP_TEST_FAKE_CUPTI_H
#define VP_TEST_FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_cupti_plan {
    uint32_t version;
    int subscribe_result, enable_result, only_kind; /* enable_result: for only_kind, 0: for all */
    bool no_timestamp_callback; /* an own clock: Unix time / 2, in another unit */
    unsigned kernels;           /* records that a forced flush returns, in buffers as available */
    unsigned finished;          /* the first ones of these, which an unforced flush returns */
    unsigned per_buffer;        /* maximum per buffer; 0: as many as fit */
    bool running;               /* the others are still running: no end when flushed by force */
    bool hold;                  /* returns no buffer before all were requested */
    size_t dropped;             /* number of dropped records to report, once */
    void (*on_flush)(void);     /* called by a forced flush; NULL: none */
    /* What it saw. */
    unsigned enabled, disabled, flushes, subscribers, buffers;
    unsigned shared; /* buffers that it got while it already had them */
    uint64_t off;    /* disabled kinds, as bits */
    unsigned told;   /* kernels returned */
} fake_cupti_plan;

#endif
