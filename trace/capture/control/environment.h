/* Environment variables that record a program without changing it. Parsing is pure: texts in,
 * settings or an error out. Private to this module. */
#ifndef VP_CAPTURE_ENVIRONMENT_H
#define VP_CAPTURE_ENVIRONMENT_H

#include "include/view_profile_capture.h"

typedef struct environment {
    bool on;         /* VIEW_PROFILE=1, or on, yes, true */
    const char *dir; /* VIEW_PROFILE_DIR; NULL: default. Points into the environment */
    /* VIEW_PROFILE_STEPS=FIRST[:COUNT[:EVERY[:TIMES]]]. Default COUNT is 1; without EVERY there is
     * one capture (every is 0); without TIMES, times is UINT64_MAX. Without the variable everything
     * is recorded. */
    bool has_steps;
    uint64_t first_step, step_count, step_every, step_times;
    uint64_t ring_bytes; /* VIEW_PROFILE_RING=64M: size of the ring; 0: no ring */
    int signal_number;   /* VIEW_PROFILE_SIGNAL=USR2; 0: none */
    bool follows;        /* VIEW_PROFILE_JOB is set: record collects the files of forked children */
    vp_gpu gpu;          /* VIEW_PROFILE_GPU=off|auto|require; default CAP_GPU_IF_USED */
} environment;

typedef const char *environment_fn(const char *name); /* same type as getenv */

/* get: replacement for getenv; NULL: getenv. VP_EARG: an invalid value; the message names it. */
int environment_read(environment *out, environment_fn *get);

#endif
