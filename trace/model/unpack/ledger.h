/* Record of the files unpacked into a directory, and of their sources: a text file in it, with one
 * line per file, so that a second run can skip complete files. A line is written before its file is
 * renamed to its final name, and only complete files are renamed. So a file that is listed and
 * exists is complete. The ledger owns its texts. Failures: VP_EREFUSED, VP_ECORRUPT, VP_EIO,
 * VP_ENOMEM. */
#ifndef VP_MODEL_LEDGER_H
#define VP_MODEL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/map.h"

#define LEDGER_NAME ".view_profile.unpacked"

typedef struct ledger_entry {
    const char *source, *target; /* raw bytes; the target is relative to the directory */
    int64_t size, mtime_ns;      /* of the file on disk that was unpacked */
    int64_t member;              /* index in the archive, or -1 */
    int64_t bytes;               /* of the target */
} ledger_entry;

typedef struct ledger {
    int fd;
    int64_t bytes;         /* of complete lines in the file */
    ledger_entry *entries; /* texts belong to the ledger */
    size_t count, cap;
    vp_map by_source, by_target;
} ledger;

/* Creates or reads the ledger of a directory and locks it until it is closed. VP_EREFUSED: locked
 * by another process, or not a ledger. */
int ledger_open(ledger *l, int dir_fd);
void ledger_close(ledger *l);
/* The last entry of a source, or of a target; NULL: none. Valid until the next addition. */
const ledger_entry *ledger_of_source(const ledger *l, const char *source);
const ledger_entry *ledger_of_target(const ledger *l, const char *target);
/* Appends a line and syncs it to the disk. */
int ledger_add(ledger *l, const ledger_entry *e);

#endif
