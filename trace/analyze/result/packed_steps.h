/* Step rows per device during the analysis. A row is a vp_step_device of 256 bytes with mostly
 * zeros, and there may be steps x devices of them. So each analysis packs its section of a row, and
 * rows are unpacked after the trace has been freed. Until then, a step has a device_count but no
 * devices. A host_result owns the rows. */
#ifndef VP_ANALYZE_PACKED_STEPS_H
#define VP_ANALYZE_PACKED_STEPS_H

#include <stdint.h>

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/pb.h"

/* The steps of one device on its own clock, for analyses that cut by step: ascending, disjoint,
 * half-open. Made by steps_collect, in the result's arena. */
typedef struct step_windows {
    int64_t *start_ps, *end_ps;
    int64_t *aligned_ps; /* starts on the host's clock, before the origin is subtracted */
    uint32_t *step;      /* indices in h->steps.list */
    uint32_t *entry;     /* indices of that step's devices; unused without devices */
    size_t count;
} step_windows;

/* Members of vp_step_device that one analysis fills, all int64_t and adjacent. */
typedef enum step_section {
    STEP_BREAKDOWN,
    STEP_CAUSES,
    STEP_CELLS, /* and peak_ps */
    STEP_SECTIONS
} step_section;

#define STEP_BREAKDOWN_FIGURES (sizeof(vp_breakdown) / sizeof(int64_t))
#define STEP_CELLS_FIGURES (VP_CELLS + 1)
#define STEP_FIGURES_MAX 16 /* of a section */

typedef struct step_packed {
    char *p; /* owned */
    size_t n;
} step_packed;

typedef struct packed_steps {
    const step_windows *windows;           /* by device: a row for each window */
    step_packed (*section)[STEP_SECTIONS]; /* by device; NULL: no rows, or no longer */
    size_t device_count;
} packed_steps;

/* Initially no section is packed: figures of missing sections are 0. VP_ENOMEM. */
int packed_steps_open(packed_steps *r, const step_windows *windows, size_t device_count);
void packed_steps_free(packed_steps *r);

/* Packs a section of a device's rows, once, one row after another. Devices and sections may be
 * packed concurrently, one thread each. */
typedef struct packed_steps_writer {
    vp_buf packed;
    step_section section;
} packed_steps_writer;

void packed_steps_begin(packed_steps_writer *w, step_section s);
/* The figures of the next row. VP_ENOMEM. */
int packed_steps_put(packed_steps_writer *w, const int64_t *figures);
/* Ends the section, or drops it if rc < 0, which means that rows are missing. Returns rc. */
int packed_steps_end(packed_steps_writer *w, packed_steps *r, uint32_t device, int rc);

/* Iterates over the rows of a packed section. */
typedef struct packed_steps_reader {
    vp_pb in;
    size_t figures;
} packed_steps_reader;

packed_steps_reader packed_steps_read(const packed_steps *r, uint32_t device, step_section s);
/* The figures of the next row. */
void packed_steps_next(packed_steps_reader *r, int64_t *figures);

/* Makes the rows, in `arena`, and adds them to their steps; frees the packed data. Does nothing if
 * nothing is packed. Aligned times become relative to origin_ps. VP_ENOMEM. */
int packed_steps_unpack(packed_steps *r, vp_steps *steps, vp_arena *arena, int64_t origin_ps,
                        int threads);

#endif
