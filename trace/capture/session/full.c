/* Reports a full pool on a separate thread, because the thread that found it may be in a signal
 * handler; and at once, because the program may run for hours. */
#include "trace/capture/session/full.h"

#include <time.h>
#include <unistd.h>

#include "trace/base/human.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

typedef struct full {
    uint64_t number; /* of the session */
    int64_t after_ns;
    size_t pool_bytes;
} full;

static __thread cap_session *telling; /* session that this thread is reporting */

bool session_is_told_here(const cap_session *s)
{
    return s && telling == s;
}

/* Marks it as reported. The caller holds the lock. */
static void mark_full_told(cap_session *s)
{
    s->telling = false;
    telling = NULL;
    session_changed();
}

void session_end_telling(void)
{
    if (telling)
        mark_full_told(telling);
}

void session_await_told(cap_session *s)
{
    struct timespec until = vp_cond_until(cap_callback_ms);
    while (s->telling && session_wait_until(&until))
        continue;
}

static void *tell_full_thread(void *ctx)
{
    full f = *(full *)ctx;
    char pool[VP_HUMAN_BYTES];
    vp_free(ctx);
    session_lock();
    cap_session *s = session_find(session_handle(f.number));
    if (s && s->pid == getpid() && (s->state == CAP_ACTIVE || s->state == CAP_ENDING)) {
        vp_config cfg = s->cfg;
        s->telling = true;
        telling = s;
        session_unlock();
        cap_log(&cfg, VP_SAY_WARNING,
                "Buffer full (%s after %.6f s); recording stopped. Use --ring 64M (VP_RING) to "
                "keep the newest events, or a larger buffer",
                vp_bytes_text(pool, (int64_t)f.pool_bytes), (double)f.after_ns / 1e9);
        session_lock();
        if (telling && session_find(session_handle(f.number)) == s)
            mark_full_told(s);
        telling = NULL;
    }
    session_unlock();
    return NULL;
}

void session_tell_full(uint64_t number, const cap_pool *p)
{
    pthread_t thread;
    const vpcap_header *h = p->head;
    full *f = vp_calloc(1, sizeof *f);
    if (!f)
        return;
    *f = (full){number, h->stop.mono_ns - h->start.mono_ns, (size_t)h->pages * VP__PAGE};
    if (vp_thread_start(&thread, tell_full_thread, f) < 0)
        vp_free(f);
    else
        pthread_detach(thread);
}
