/* The processes that a capture is of: HOST:PORT, several with commas between, or a line each in a
 * file. */
#ifndef VP_CLI_PROFILE_TARGETS_H
#define VP_CLI_PROFILE_TARGETS_H

#include <stddef.h>

#define PROFILE_TARGETS_MAX 4096u

typedef struct profile_name {
    char target[280]; /* HOST:PORT, [ADDRESS]:PORT */
    char host[280];   /* the stem of its file: HOST_PORT */
} profile_name;

/* Takes those of the words and of hosts_file (NULL: none; "-": standard input), in order. *out is
 * freed with vp_free. VP_EARG: one is no HOST:PORT, stands twice, or there is none; VP_EIO. */
int profile_targets(profile_name **out, size_t *n, char *const *words, size_t word_n,
                    const char *hosts_file);

#endif
