/* The directory of one run: <dir>/plugins/profile/<YYYY_MM_DD_HH_MM_SS>[_n], created exclusively,
 * so that two recordings in one second do not share it. Private to the recorder. The caller closes
 * it. */
#ifndef VP_CAPTURE_RUN_DIR_H
#define VP_CAPTURE_RUN_DIR_H

#include <signal.h>

#include "trace/base/limits.h"

typedef struct cap_run {
    char path[VP_PATH_MAX];
    int fd; /* -1: none */
} cap_run;

/* Creates the directory and its parents. VP_EPERM, VP_ENOSPC, VP_EIO with the path; VP_EARG: too
 * long. */
int run_dir_make(cap_run *run, const char *dir);
void run_dir_close(cap_run *run);
/* Removes the directory if it is empty. */
void run_dir_remove(cap_run *run);
/* A file that reaches its limit (RLIMIT_FSIZE) raises a signal that would end the program. Between
 * these two calls the signal is blocked, and discarded if our writing raised it. */
void run_dir_hold_signal(sigset_t *before);
void run_dir_free_signal(const sigset_t *before);

#endif
