#include "server/routes/store/turns.h"

#include <pthread.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"

/* Number of simultaneous analyses; and in addition, of long ones, which take more than LASTS_MS,
 * longer than any real trace (120 MB of JSON: 1 s on two processors). */
#define PLACES 2
#define LASTING_PLACES 2
#define LASTS_MS 3000
/* Time limit of an analysis: 60 s plus 1 ms per 500 bytes on disk. The slowest real files need a
 * hundredth of that (50 MB/s on disk); the rest is for loaded machines. */
#define TURN_MS 60000
#define BYTES_OF_MS 500
/* In ms: interval of checking whether clients still wait. */
#define ASK_MS 200

struct turns {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    turn *running;
    int count, lasting; /* running analyses: `lasting` are the long ones, `count` the others */
};

int turns_new(turns **out)
{
    turns *all = vp_calloc(1, sizeof *all);
    VP_NEED(all);
    pthread_mutex_init(&all->lock, NULL);
    vp_cond_init(&all->changed);
    *out = all;
    return 0;
}

void turns_free(turns *all)
{
    if (!all)
        return;
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->changed);
    vp_free(all);
}

int turn_unwanted(void)
{
    return vp_fail(VP_ECANCELLED, "canceled by the client");
}

/* Called with the lock held, which is released while waiting. */
static void wait_a_moment(turns *all)
{
    struct timespec until = vp_cond_until(ASK_MS);
    pthread_cond_timedwait(&all->changed, &all->lock, &until);
}

/* Call with the lock. */
static bool has_turn(const turns *all, const char *session)
{
    for (const turn *t = all->running; t; t = t->next)
        if (!strcmp(t->session, session))
            return true;
    return false;
}

int turn_begin(turn *t)
{
    turns *all = t->of;
    bool given_up = false;
    pthread_mutex_lock(&all->lock);
    while (!(given_up = t->unwanted(t->ctx)) && (all->count >= PLACES || has_turn(all, t->session)))
        wait_a_moment(all);
    if (!given_up) {
        all->count++;
        t->lasts = false;
        t->next = all->running;
        all->running = t;
    }
    pthread_mutex_unlock(&all->lock);
    t->begin_ms = t->asked_ms = vp_now_coarse_ms();
    return given_up ? turn_unwanted() : 0;
}

/* Frees its slot and continues as a long analysis, where it may be paused; paused time does not
 * count. false: no client waits for it. */
static bool turn_make_room(turn *t)
{
    turns *all = t->of;
    bool wanted = true;
    int64_t stood = vp_now_coarse_ms();
    pthread_mutex_lock(&all->lock);
    t->lasts = true;
    all->count--;
    pthread_cond_broadcast(&all->changed);
    while (all->lasting >= LASTING_PLACES && (wanted = !t->unwanted(t->ctx)))
        wait_a_moment(all);
    all->lasting++;
    pthread_mutex_unlock(&all->lock);
    t->begin_ms += vp_now_coarse_ms() - stood;
    return wanted;
}

int turn_go_on(turn *t)
{
    int64_t now = vp_now_coarse_ms(), takes = now - t->begin_ms;
    if (now - t->asked_ms < ASK_MS)
        return 0;
    t->asked_ms = now;
    if (t->unwanted(t->ctx) || (takes >= LASTS_MS && !t->lasts && !turn_make_room(t)))
        return turn_unwanted();
    if (takes > TURN_MS + t->bytes / BYTES_OF_MS)
        return vp_fail(VP_ELIMIT,
                       "the analysis took longer than %lld s, the limit for a profile of this "
                       "size; the command line has no such limit: view_profile report",
                       (long long)takes / 1000);
    return 0;
}

void turn_end(turn *t)
{
    turns *all = t->of;
    turn **link = &all->running;
    pthread_mutex_lock(&all->lock);
    while (*link && *link != t)
        link = &(*link)->next;
    if (*link)
        *link = t->next;
    *(t->lasts ? &all->lasting : &all->count) -= 1;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}
