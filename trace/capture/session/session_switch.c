#include "trace/capture/session/session_switch.h"

#include "trace/capture/gpu/cupti.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/pool/tables.h"
#include "trace/capture/session/full.h"
#include "trace/capture/threads/recording_thread.h"

/* Time that a stop waits for threads inside a record. A record takes some ns, but a thread may be
 * preempted within it, and its zone would be missing in the counts. */
#define SETTLE_MS 1000u
#define PAIR_TRIES 64

static cap_session *active;
static uint32_t generations;
static bool unsettled; /* a thread may still be writing into the last pool */

cap_session *session_active(void)
{
    return active;
}

cap_session *session_recording(void)
{
    return active && active->state == CAP_ACTIVE ? active : NULL;
}

bool session_is_full(const cap_session *s)
{
    return s == active &&
           __atomic_load_n(&cap_pool_now.head->flags, __ATOMIC_ACQUIRE) & VPCAP_IS_FULL;
}

int session_settle(void)
{
    if (unsettled && !cap_settled(SETTLE_MS))
        return vp_fail(VP_EBUSY, "a thread is still inside the previous recording");
    unsettled = false;
    return 0;
}

void session_switch_on(cap_session *s)
{
    vpcap_header *h = s->pool.head;
    h->start_ticks_per_s = clock_rate();
    generations += 2;
    generations = generations ? generations : 2;
    s->generation = generations | clock_is_processor();
    cap_pool_now = s->pool;
    cap_tables_enter(&cap_pool_now);
    VP__STORE(vp__level, s->cfg.level);
    clock_pair(&h->start, PAIR_TRIES);
    s->result.start_unix_ns = h->start.unix_ns;
    session_enlist(s);
    active = s;
    grow_start(&cap_pool_now, s->cfg.log ? s->number : 0, session_tell_full);
    __atomic_store_n(&vp__on, s->generation, __ATOMIC_RELEASE);
}

static void end_gpu(cap_session *s)
{
    s->gpu = s->cfg.gpu == VP_GPU_OFF ? NULL : cupti_stop();
    if (!s->gpu)
        return;
    s->result.gpu_records = s->gpu->count;
    s->result.gpu_dropped = s->gpu->dropped;
    s->result.gpu_status = s->gpu->status;
}

void session_switch_off(cap_session *s)
{
    __atomic_store_n(&vp__on, 0, __ATOMIC_SEQ_CST);
    s->settled = cap_settled(SETTLE_MS);
    clock_pair(&s->stop, PAIR_TRIES);
    end_gpu(s);
    cap_tables_leave();
    grow_stop(&cap_pool_now);
    session_lock();
    while (s->readers)
        session_wait();
    s->pool = (cap_pool){.image = cap_pool_now.image,
                         .size = cap_pool_now.size,
                         .head = cap_pool_now.head,
                         .ring = cap_pool_now.ring,
                         .grow = cap_pool_now.grow,
                         .sealed = cap_pool_now.sealed,
                         .ended = cap_pool_now.ended};
    unsettled = !s->settled;
    active = NULL;
}

void session_leave_pool(cap_session *s)
{
    if (s->settled || cap_settled(SETTLE_MS))
        pool_close(&s->pool);
    else
        s->pool = (cap_pool){.image = NULL};
}

cap_session *session_orphan(void)
{
    cap_session *was = active;
    vp__on = 0;
    active = NULL;
    unsettled = false;
    cap_tables_leave();
    session_abandon_all();
    return was;
}
