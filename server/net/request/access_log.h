/* The access log: one line per request, in "combined" format or as JSON lines. Client data is
 * escaped, and tokens are never written. A thread writes the log, so that a slow disk or a full
 * pipe does not block requests; lines that do not fit into its buffer are counted and reported.
 * Thread-safe.
 *
 * The byte count is logged for complete responses. libmicrohttpd does not report it for others,
 * which are logged with "-". The file is opened for appending and never reopened: rotate it with
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
    unsigned status;   /* 0: rejected before the request was read */
    int64_t bytes;     /* of the body; -1: cut off */
} access_entry;

/* Opens FILE for appending, with mode 0600 if it is new; "-" is standard output. secret: a token to
 * keep out of the log, or NULL; copied. */
int access_log_open(access_log **out, const char *path, bool json, const char *secret);
void access_log_put(access_log *log, const access_entry *e);
/* Writes the remaining lines. NULL is allowed. */
void access_log_close(access_log *log);

/* Appends one line; the formatting of access_log_put, for tests. */
void access_log_format(vp_buf *b, const access_entry *e, bool json, const char *secret);

#endif
