/* The access log: one line a request, in the "combined" form that every log tool reads, or as JSON
 * lines. Whatever a client sent is escaped, and a token is never written. A thread of its own
 * writes, so that a slow disk or an unread pipe holds up nobody; what does not fit into its buffer
 * is counted and said. Thread-safe.
 *
 * Bytes are those of answers that were sent whole; of others libmicrohttpd does not tell how much
 * got out, and a "-" says so. The file is opened for appending and never reopened: rotate with
 * copytruncate. */
#ifndef VP_NET_ACCESS_LOG_H
#define VP_NET_ACCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

typedef struct access_log access_log;

typedef struct access_entry {
    int64_t unix_ns, took_ns;
    const char *remote; /* an address, or "unix" */
    vp_str method, target, version, referer, agent;
    const char *route; /* the pattern, or NULL */
    unsigned status;   /* 0: refused before it could be read */
    int64_t bytes;     /* of the body; -1: it was cut off */
} access_entry;

/* Opens FILE for appending, mode 0600 when it is new; "-" is standard output. secret: a token to
 * keep out of the log, or NULL; copied. */
int access_log_open(access_log **out, const char *path, bool json, const char *secret);
void access_log_put(access_log *log, const access_entry *e);
/* Writes what is left. NULL is fine. */
void access_log_close(access_log *log);

/* Appends one line; what access_log_put does, for tests. */
void access_log_format(vp_buf *b, const access_entry *e, bool json, const char *secret);

#endif
