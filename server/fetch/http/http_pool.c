#include "server/fetch/http/http_pool.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/thread.h"

/* Maximum number of origins: a user names a few stores, each with one or two hosts for tokens. */
#define ORIGINS_MAX 64
#define ORIGIN_TEXT 320

struct http_origin {
    char text[ORIGIN_TEXT];
    int at_work; /* active requests, at most HTTP_AT_ONCE */
    int users;   /* these, and waiting or suspended ones */
    int idle_n;
    CURL *idle[HTTP_AT_ONCE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t made = PTHREAD_ONCE_INIT;
static pthread_cond_t freed;
static http_origin origins[ORIGINS_MAX];

static void pool_init_condition(void)
{
    vp_cond_init(&freed);
}

/* Call with the lock; NULL: all slots are in use. */
static http_origin *pool_find_origin(const char *text)
{
    http_origin *unused = NULL;
    for (size_t i = 0; i < ORIGINS_MAX; i++) {
        http_origin *o = &origins[i];
        if (strcmp(o->text, text) == 0)
            return o;
        if (!o->users && (!unused || !o->text[0]))
            unused = o;
    }
    if (!unused)
        return NULL;
    while (unused->idle_n)
        curl_easy_cleanup(unused->idle[--unused->idle_n]);
    snprintf(unused->text, sizeof unused->text, "%s", text);
    return unused;
}

/* Periodically checks whether the client still waits. */
static int wait_for_turn(http_origin *o, const fetch_ask *a)
{
    while (o->at_work >= HTTP_AT_ONCE) {
        struct timespec until = vp_cond_until(1000);
        (void)pthread_cond_timedwait(&freed, &lock, &until);
        if (a && fetch_abandoned(a))
            return vp_fail(VP_ECANCELLED, "canceled by the client");
    }
    o->at_work++;
    return 0;
}

int http_pool_take(const char *origin, const fetch_ask *a, http_origin **of, CURL **out)
{
    if (strlen(origin) >= ORIGIN_TEXT)
        return vp_fail(VP_EARG, "host name too long");
    (void)pthread_once(&made, pool_init_condition);
    pthread_mutex_lock(&lock);
    http_origin *o = pool_find_origin(origin);
    int rc = o ? 0 : vp_fail(VP_ELIMIT, "more than %d servers used at the same time", ORIGINS_MAX);
    *out = NULL;
    if (o) {
        o->users++;
        rc = wait_for_turn(o, a);
        if (rc == 0 && o->idle_n)
            *out = o->idle[--o->idle_n];
        o->users -= rc < 0;
    }
    pthread_mutex_unlock(&lock);
    VP_TRY(rc);
    *of = o;
    if (*out)
        curl_easy_reset(*out);
    else
        *out = curl_easy_init();
    if (*out)
        return 0;
    http_pool_give(o, NULL);
    return vp_no_memory();
}

void http_pool_give(http_origin *of, CURL *easy)
{
    pthread_mutex_lock(&lock);
    if (easy && of->idle_n < HTTP_AT_ONCE) {
        of->idle[of->idle_n++] = easy;
        easy = NULL;
    }
    of->at_work--;
    of->users--;
    pthread_cond_broadcast(&freed);
    pthread_mutex_unlock(&lock);
    curl_easy_cleanup(easy);
}

void http_pool_step_aside(http_origin *of)
{
    pthread_mutex_lock(&lock);
    of->at_work--;
    pthread_cond_broadcast(&freed);
    pthread_mutex_unlock(&lock);
}

void http_pool_step_back(http_origin *of)
{
    pthread_mutex_lock(&lock);
    (void)wait_for_turn(of, NULL);
    pthread_mutex_unlock(&lock);
}
