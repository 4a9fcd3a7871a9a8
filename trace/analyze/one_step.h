/* Restricts a trace to one step. A trace is analyzed to find its steps, cut to one of them, and
 * analyzed again, so that every value of the report covers only that step. Fails if there is no
 * such step.
 *
 * Every track is cut to the step's interval (on a device to the device's part of it). So the window
 * of the step's report equals the step in the full report, and self times of all steps add up to op
 * time inside steps (tests/golden/test_one_step.py). Steps are selected by the program's number;
 * repeats of a module have no numbers. */
#ifndef VP_ANALYZE_ONE_STEP_H
#define VP_ANALYZE_ONE_STEP_H

#include "trace/analyze/result/analysis.h"

typedef struct one_step {
    int64_t number;     /* requested: number of the program */
    const char *series; /* name of its series; NULL: the first series with the number */
    bool found;
    vp_step_source source;
    vp_step step; /* without its devices. Its texts are in the finder's arena (one_step_free) */
    char *name, *grew_name, *grew_thread;
    uint32_t grew_process;   /* of the trace */
    vp_step_device *devices; /* by process of the trace, with its part of the step */
    /* By process, on its own clock; start > end: no part in the step. */
    int64_t *start_ps, *end_ps;
    int64_t host_start_ps,
        host_end_ps; /* of the program's threads, on the host's clock, as in the trace */
} one_step;

/* The `done` callback of a full analysis (ctx is a one_step with its number): selects the first
 * step with that number, if there is one. */
int one_step_find(void *ctx, const analysis *a);
/* The same for a time window [from_ps, until_ps) of the trace, on the host's clock. A device with a
 * separate clock is cut at its clock's time for the op at either end, so adjacent windows divide
 * its work without overlap. */
int one_step_window(one_step *s, const trace *t, int64_t from_ps, int64_t until_ps);
/* Cuts every track to the step: on a device to the device's part of it, elsewhere to the program's
 * own part. Values of this step that need the whole trace are copied by one_step_put into the
 * result of the cut trace. */
int one_step_cut(trace *t, const one_step *s);
int one_step_put(const one_step *s, const analysis *a);
void one_step_free(one_step *s);

#endif
