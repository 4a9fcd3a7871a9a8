/* Zones and instants named by a number of vp_name: for callers without a source location. */
#include "trace/capture/pool/recorder.h"
#include "trace/capture/threads/emit.h"

uint32_t cap_generation(void)
{
    return vp__generation();
}

void cap_zone(uint32_t name, uint64_t start, uint32_t generation, bool is_step, uint64_t number)
{
    if (generation)
        cap_emit(generation, &(cap_event){.site = vp__site_of(name),
                                          .kind = is_step ? VP__STEP : VP__ZONE,
                                          .start = start,
                                          .end = vp__ticks(generation),
                                          .has_number = is_step,
                                          .number = number});
}

void vp__zone(uint32_t name, uint64_t start, uint32_t generation)
{
    cap_zone(name, start, generation, false, 0);
}

void vp__zone_args(uint32_t name, uint64_t start, uint64_t end, uint32_t generation,
                   const vp_arg *args, size_t n)
{
    vp__site *keys[CAP_ARGS_MAX];
    if (generation)
        cap_emit(generation, &(cap_event){.site = vp__site_of(name),
                                          .kind = VP__ZONE,
                                          .start = start,
                                          .end = end,
                                          .args = args,
                                          .arg_count = cap_keys_of(keys, args, args ? n : 0),
                                          .keys = keys});
}

void cap_instant(uint32_t name, const vp_arg *args, size_t n)
{
    vp__site *keys[CAP_ARGS_MAX];
    uint32_t generation = vp__generation();
    uint64_t now = generation ? vp__ticks(generation) : 0;
    if (generation)
        cap_emit(generation, &(cap_event){.site = vp__site_of(name),
                                          .kind = VP__INSTANT,
                                          .start = now,
                                          .end = now,
                                          .args = args,
                                          .arg_count = cap_keys_of(keys, args, args ? n : 0),
                                          .keys = keys});
}
