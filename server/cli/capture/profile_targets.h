/* Parses the targets of a capture: HOST:PORT, comma-separated, from the command line and from a
 * file with one or more per line. Fails with VP_EARG on a malformed or duplicate target. */
#ifndef VP_CLI_PROFILE_TARGETS_H
#define VP_CLI_PROFILE_TARGETS_H

#include <stddef.h>

#define PROFILE_TARGETS_MAX 4096u

typedef struct profile_name {
    char target[280]; /* HOST:PORT, [ADDRESS]:PORT */
    char host[280];   /* the stem of its file: HOST_PORT */
} profile_name;

/* Parses the targets in words and in hosts_file (NULL: none; "-": standard input), in order. Free
 * *out with vp_free. VP_EARG: a malformed or duplicate target, or none; VP_EIO. */
int profile_targets(profile_name **out, size_t *n, char *const *words, size_t word_n,
                    const char *hosts_file);

#endif
