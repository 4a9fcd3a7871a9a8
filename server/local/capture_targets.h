/* What can be captured over the network: HOST:PORT, several with commas where they become one run,
 * by a grammar that leaves no room for anything else, and those that were captured before, in
 * $XDG_CACHE_HOME/view_profile/targets, one a line. Nothing is allocated. */
#ifndef VP_LOCAL_CAPTURE_TARGETS_H
#define VP_LOCAL_CAPTURE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/str.h"

/* Bytes of what is captured at once, with its NUL, and HOST:PORTs of it. */
#define CAPTURE_TARGETS_TEXT 1024u
#define CAPTURE_TARGETS_MAX 16u
/* So many are remembered, the newest first. */
#define CAPTURE_TARGETS_KEPT 16u

typedef struct capture_targets {
    char list[CAPTURE_TARGETS_KEPT][CAPTURE_TARGETS_TEXT];
    size_t n;
} capture_targets;

/* One HOST:PORT: a name, an address, or [an IPv6 address]; a port from 1 to 65535. */
bool capture_target_ok(vp_str s);
/* 1 to CAPTURE_TARGETS_MAX of them with commas between, each once. */
bool capture_targets_ok(vp_str s);
/* Whether two such texts have a HOST:PORT in common. */
bool capture_targets_share(vp_str a, vp_str b);

/* Puts one in front; what is not well-formed is left out. */
void capture_targets_add(capture_targets *t, vp_str s);
/* Reads the file; what cannot be read, or is no such text, is as if it were not there. */
void capture_targets_load(capture_targets *t);
/* Replaces the file as a whole. VP_EIO: nothing has changed. */
int capture_targets_save(const capture_targets *t);

#endif
