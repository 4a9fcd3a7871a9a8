/* Zones that are recorded as a whole when they end, and are on a list of the image until then, so
 * that an interrupted recording contains them. */
#include "trace/capture/pool/recorder.h"
#include "trace/capture/threads/emit.h"
#include "trace/capture/threads/recording_thread.h"

static void fill_open_entry(vpcap_open_entry *e, const vp__thread *t, const cap_begun *z,
                            uint32_t name)
{
    const vp__chunk *first = (const vp__chunk *)(const void *)t->block - 1;
    VP__STORE(e->thread, first->thread);
    VP__STORE(e->block, pool_page_of(&cap_pool_now, first));
    VP__STORE(e->name, name);
    VP__STORE(e->kind, z->is_step ? VP__STEP : VP__ZONE);
    VP__STORE(e->number, z->number);
    __atomic_store_n(&e->start, z->start, __ATOMIC_RELEASE);
}

void cap_begin(cap_begun *z, uint32_t name, bool is_step, uint64_t number)
{
    *z = (cap_begun){.generation = cap_generation(), .is_step = is_step, .number = number};
    if (!z->generation)
        return;
    z->name = name;
    vp__site *site = vp__site_of(name);
    vp__thread *t = cap_try_enter(z->generation);
    uint32_t id = t ? cap_site(site, z->generation, NULL, 0) : 0;
    z->place = id ? pool_open_take(&cap_pool_now) : 0;
    z->start = vp__ticks(z->generation);
    if (z->place)
        fill_open_entry(pool_open_at(&cap_pool_now, z->place), t, z, id);
    if (t)
        vp__leave(t);
}

/* In a signal handler that interrupted its own thread inside a record, the image cannot disappear:
 * the end of the recording waits for that thread. */
static void take_off_open_list(const cap_begun *z, bool left)
{
    vp__thread *t = z->place ? cap_me() : NULL;
    bool was_busy = t && VP__LOAD(t->busy);
    if (!t || (!was_busy && !vp__enter(t, z->generation)))
        return;
    if (__atomic_load_n(&vp__on, __ATOMIC_ACQUIRE) == z->generation) {
        pool_open_give(&cap_pool_now, z->place);
        if (left)
            __atomic_fetch_add(&cap_pool_now.head->gone_left, 1, __ATOMIC_RELAXED);
    }
    if (!was_busy)
        vp__leave(t);
}

static bool emit_open_zone(const cap_begun *z, const vp_arg *args, size_t n)
{
    vp__site *keys[CAP_ARGS_MAX], *site = vp__site_of(z->name);
    return cap_emit_listed(z->generation,
                           &(cap_event){.site = site,
                                        .kind = z->is_step ? VP__STEP : VP__ZONE,
                                        .start = z->start,
                                        .end = vp__ticks(z->generation),
                                        .has_number = z->is_step,
                                        .number = z->number,
                                        .args = args,
                                        .arg_count = cap_keys_of(keys, args, n),
                                        .keys = keys},
                           z->place);
}

void cap_end_args(cap_begun *z, const vp_arg *args, size_t n)
{
    if (z->generation && !emit_open_zone(z, args, n))
        take_off_open_list(z, false);
    *z = (cap_begun){.generation = 0};
}

void cap_end(cap_begun *z)
{
    cap_end_args(z, NULL, 0);
}

void cap_leave(cap_begun *z)
{
    take_off_open_list(z, true);
    *z = (cap_begun){.generation = 0};
}
