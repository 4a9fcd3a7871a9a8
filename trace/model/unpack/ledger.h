/* What was unpacked into a directory and from where: a text file in it, one line a file, so that a
 * second run knows what is whole already. A line is written before its file gets its name, and a
 * file gets its name in one step when it is complete: what is named here and there is whole.
 * unpack.c includes this. */
#ifndef VP_MODEL_LEDGER_H
#define VP_MODEL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/map.h"

#define LEDGER_NAME ".view_profile.unpacked"

typedef struct ledger_entry {
    const char *source, *target; /* raw bytes; the target is relative to the directory */
    int64_t size, mtime_ns;      /* of the file on disk that it came from */
    int64_t member;              /* in the archive, or -1 */
    int64_t bytes;               /* of the target */
} ledger_entry;

typedef struct ledger {
    int fd;
    int64_t bytes;         /* of whole lines in the file */
    ledger_entry *entries; /* texts are the ledger's */
    size_t count, cap;
    vp_map by_source, by_target;
} ledger;

/* Makes or reads the ledger of a directory and holds it until it is closed. VP_EREFUSED: another
 * process does, or the file is not one of ours. */
int ledger_open(ledger *l, int dir_fd);
void ledger_close(ledger *l);
/* The last entry of a source, or that owns a target; NULL: none. Valid until the next addition. */
const ledger_entry *ledger_of_source(const ledger *l, const char *source);
const ledger_entry *ledger_of_target(const ledger *l, const char *target);
/* Writes a line through to the disk. */
int ledger_add(ledger *l, const ledger_entry *e);

#endif
