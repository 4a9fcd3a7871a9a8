/* The environment variables by which a program is recorded without a change to it. Reading them is
 * pure: texts in, settings or a sentence out. Only this room includes it. */
#ifndef VP_CAPTURE_ENVIRONMENT_H
#define VP_CAPTURE_ENVIRONMENT_H

#include "include/view_profile_capture.h"

typedef struct environment {
    bool on;         /* VIEW_PROFILE=1, or on, yes, true */
    const char *dir; /* VIEW_PROFILE_DIR; NULL: the default. Points into the environment */
    /* VIEW_PROFILE_STEPS=FIRST[:COUNT[:EVERY[:TIMES]]]; COUNT is 1 where it is missing, and without
     * EVERY there is one capture. Without the variable everything is recorded. every 0: only once.
     * times: UINT64_MAX where it is missing. */
    bool has_steps;
    uint64_t first_step, step_count, step_every, step_times;
    uint64_t ring_bytes; /* VIEW_PROFILE_RING=64M: a ring of this size; 0: no ring */
    int signal_number;   /* VIEW_PROFILE_SIGNAL=USR2; 0: none */
    bool follows;        /* VIEW_PROFILE_JOB is set: somebody collects what forked children leave */
    vp_gpu gpu;          /* VIEW_PROFILE_GPU=off|auto|require; without it CAP_GPU_IF_USED */
} environment;

typedef const char *environment_fn(const char *name); /* has getenv's type */

/* get: getenv, or in its place; NULL: getenv. VP_EARG: a value makes no sense, and the message says
 * which. */
int environment_read(environment *out, environment_fn *get);

#endif
