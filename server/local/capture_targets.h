/* Validates capture targets (HOST:PORT, comma-separated for one run) with a strict grammar, and
 * keeps the list of earlier targets in $XDG_CACHE_HOME/view_profile/targets, one per line. Nothing
 * is allocated. */
#ifndef VP_LOCAL_CAPTURE_TARGETS_H
#define VP_LOCAL_CAPTURE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/str.h"

/* Size of one target list, with its NUL, and the number of HOST:PORTs in it. */
#define CAPTURE_TARGETS_TEXT 1024u
#define CAPTURE_TARGETS_MAX 16u
/* Number of remembered target lists, newest first. */
#define CAPTURE_TARGETS_KEPT 16u

typedef struct capture_targets {
    char list[CAPTURE_TARGETS_KEPT][CAPTURE_TARGETS_TEXT];
    size_t n;
} capture_targets;

/* One HOST:PORT: a name, an address, or [an IPv6 address]; a port from 1 to 65535. */
bool capture_target_ok(vp_str s);
/* 1 to CAPTURE_TARGETS_MAX of them, comma-separated, without duplicates. */
bool capture_targets_ok(vp_str s);
/* True if two target lists share a HOST:PORT. */
bool capture_targets_share(vp_str a, vp_str b);

/* Inserts a target list at the front; ignores a malformed one. */
void capture_targets_add(capture_targets *t, vp_str s);
/* Reads the file. A missing or unreadable file and malformed lines are ignored. */
void capture_targets_load(capture_targets *t);
/* Replaces the file atomically. VP_EIO: the file is unchanged. */
int capture_targets_save(const capture_targets *t);

#endif
