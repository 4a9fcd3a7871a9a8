#include "server/net/answer/entity.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "server/net/request/request.h"
#include "trace/base/time.h"

#define NS INT64_C(1000000000)

/* Per-process seeds of the hash in an ETag. The hash hides the device and inode number of a file
 * from clients. */
static uint64_t seeds[2];

static void make_seeds(void)
{
    if (getrandom(seeds, sizeof seeds, 0) != (ssize_t)sizeof seeds)
        seeds[0] = seeds[1] = (uint64_t)vp_now_ms();
}

void http_entity_etag(http_entity *e, const vp_file_id *id, const char *tag)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t of[] = {id->dev, id->ino, (uint64_t)id->size, (uint64_t)id->mtime_ns};
    (void)pthread_once(&once, make_seeds);
    snprintf(e->etag, sizeof e->etag, "\"%016" PRIx64 "%016" PRIx64 "%s%.16s\"",
             vp_hash(of, sizeof of, seeds[0]), vp_hash(of, sizeof of, seeds[1]), tag[0] ? "-" : "",
             tag);
    e->mtime_ns = tag[0] ? 0 : id->mtime_ns;
}

/* A modification time in the future is not sent (RFC 9110 8.8.2.1). */
void http_last_modified(char out[HTTP_DATE_SIZE], const http_entity *e)
{
    out[0] = 0;
    if (e->mtime_ns > 0 && e->mtime_ns / NS <= (int64_t)time(NULL))
        http_date_put(out, e->mtime_ns / NS);
}

http_coding http_coding_of(const http_req *rq, bool can_gzip)
{
    return http_choose_coding(http_head_get(&rq->head, "Accept-Encoding"), can_gzip);
}

bool http_wants_gzip(http_req *rq)
{
    rq->vary_encoding = true;
    return http_coding_of(rq, true) == HTTP_GZIP;
}
