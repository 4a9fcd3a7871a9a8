/* Streams a listing to the client: entries are sent as they are found, in frames of some tens of
 * KB, so that memory use does not grow with their number. Invalid names are counted, and the count
 * is the last entry. */
#ifndef VP_FETCH_ENTRIES_H
#define VP_FETCH_ENTRIES_H

#include <stdbool.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

typedef struct entry {
    vp_str name;      /* relative to the requested address */
    int64_t bytes;    /* -1: unknown */
    int64_t mtime_ns; /* 0: unknown */
    vp_str etag;      /* empty: none */
    bool is_dir;
} entry;

typedef struct entries {
    int stream;
    vp_buf frame;
    uint64_t told, refused;
    const char *fault; /* error of the first refused name */
} entries;

void entries_begin(entries *e, int stream);
/* VP_ECANCELLED: the client is gone; VP_ELIMIT: more than VP_WALK_ENTRIES_MAX. */
int entries_put(entries *e, const entry *one);
int entries_end(entries *e);
void entries_free(entries *e);
/* INFO: the same fields for one object. */
int entry_put_info(int stream, const entry *one);

#endif
