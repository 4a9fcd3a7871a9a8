/* Mirrors that use this process's view_profile-fetch, which all of them share; the last one ends
 * it. */
#include "trace/base/err.h"
#include "trace/source/fetcher.h"
#include "trace/source/mirror.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fetcher *shared;
static unsigned users;

static void release_shared_fetcher(void *ctx)
{
    (void)ctx;
    pthread_mutex_lock(&lock);
    if (--users == 0) {
        fetcher_end(shared);
        shared = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static int acquire_shared_fetcher(fetcher **out)
{
    pthread_mutex_lock(&lock);
    int rc = shared ? 0 : fetcher_start(&shared);
    if (rc >= 0) {
        users++;
        *out = shared;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int mirror_open_url(mirror **out, const char *url, bool is_unsigned)
{
    fetcher *f;
    int rc = acquire_shared_fetcher(&f);
    if (rc < 0)
        return vp_fail_at(rc, url, -1, -1);
    rc = mirror_open(out, url,
                     &(source_ask){.ask = fetcher_source, .ctx = f, .is_unsigned = is_unsigned},
                     release_shared_fetcher);
    if (rc < 0)
        release_shared_fetcher(f);
    return rc;
}
