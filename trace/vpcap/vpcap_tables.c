/* The tables of an opened image: names, threads, devices, tracks, metadata. */
#include <string.h>

#include "trace/vpcap/vpcap_view.h"

const vpcap_info *vpcap_info_of(const vpcap *v)
{
    return &v->info;
}

vp_str vpcap_taken(vpcap_header *head, const vpcap *v)
{
    *head = v->head;
    if (head->pages_used < head->pages)
        head->pages = head->pages_used;
    head->image_bytes = head->chunks_at + (uint64_t)head->pages * VP__PAGE;
    return (vp_str){v->image, head->image_bytes};
}

uint32_t vpcap_names(const vpcap *v)
{
    return vpcap_count_of(&v->head.names);
}

uint32_t vpcap_threads(const vpcap *v)
{
    return (uint32_t)v->thread_count;
}

uint32_t vpcap_devices(const vpcap *v)
{
    return vpcap_count_of(&v->head.devices);
}

uint32_t vpcap_tracks(const vpcap *v)
{
    return vpcap_count_of(&v->head.tracks);
}

uint32_t vpcap_metas(const vpcap *v)
{
    return vpcap_count_of(&v->head.metas);
}

static vp_str vpcap_text_of(const vpcap *v, vpcap_ref ref)
{
    if (ref.at > v->head.strings.cap || ref.n > v->head.strings.cap - ref.at)
        return VP_STR_NONE;
    return (vp_str){v->image + v->head.strings.at + ref.at, ref.n};
}

vpcap_name vpcap_name_at(const vpcap *v, uint32_t i)
{
    const vpcap_name_entry *e = (const void *)(v->image + v->head.names.at);
    if (!__atomic_load_n(&e[i].ready, __ATOMIC_ACQUIRE))
        return (vpcap_name){.name = VP_STR_NONE};
    return (vpcap_name){.name = vpcap_text_of(v, e[i].name),
                        .category = vpcap_text_of(v, e[i].category),
                        .function = vpcap_text_of(v, e[i].function),
                        .file = vpcap_text_of(v, e[i].file),
                        .line = e[i].line,
                        .color = e[i].color};
}

static vpcap_thread gone_threads(const vpcap_header *h)
{
    return (vpcap_thread){.name = VP_STR("threads that ended"),
                          .dropped_full = h->gone_dropped_full,
                          .dropped_signal = h->gone_dropped_signal,
                          .dropped_depth = h->gone_dropped_depth,
                          .unmatched_ends = h->gone_unmatched_ends,
                          .overwritten = h->gone_overwritten,
                          .left = h->gone_left};
}

vpcap_thread vpcap_thread_at(const vpcap *v, uint32_t i)
{
    if (v->threads[i].page == VPCAP_GONE)
        return gone_threads(&v->head);
    if (v->threads[i].page == VPCAP_NONE)
        return (vpcap_thread){.name = VP_STR("a thread that ended"),
                              .written = v->threads[i].events,
                              .overwritten = v->threads[i].passed};
    const vp__block *b = vpcap_block_at(v, v->threads[i].page);
    return (vpcap_thread){.tid = b->tid,
                          .name = vpcap_inline_text(b->name, sizeof b->name),
                          .written = v->threads[i].events,
                          .dropped_full = __atomic_load_n(&b->dropped_full, __ATOMIC_RELAXED),
                          .dropped_signal = __atomic_load_n(&b->dropped_signal, __ATOMIC_RELAXED),
                          .dropped_depth = __atomic_load_n(&b->dropped_depth, __ATOMIC_RELAXED),
                          .unmatched_ends = __atomic_load_n(&b->unmatched_ends, __ATOMIC_RELAXED),
                          .overwritten = __atomic_load_n(&b->overwritten, __ATOMIC_RELAXED) +
                                         v->threads[i].passed,
                          .left = __atomic_load_n(&b->left, __ATOMIC_RELAXED)};
}

vpcap_device vpcap_device_at(const vpcap *v, uint32_t i)
{
    const vpcap_device_entry *e = (const void *)(v->image + v->head.devices.at);
    if (!__atomic_load_n(&e[i].ready, __ATOMIC_ACQUIRE))
        return (vpcap_device){.model = VP_STR_NONE};
    return (vpcap_device){(int)e[i].kind, e[i].ordinal, vpcap_text_of(v, e[i].model)};
}

vpcap_track vpcap_track_at(const vpcap *v, uint32_t i)
{
    const vpcap_track_entry *e = (const void *)(v->image + v->head.tracks.at);
    uint32_t devices = vpcap_devices(v), device = e[i].device;
    if (!__atomic_load_n(&e[i].ready, __ATOMIC_ACQUIRE) || device >= devices)
        return (vpcap_track){.device = VPCAP_NONE, .name = VP_STR_NONE};
    return (vpcap_track){device, vpcap_text_of(v, e[i].name)};
}

vpcap_meta vpcap_meta_at(const vpcap *v, uint32_t i)
{
    const vpcap_meta_entry *e = (const void *)(v->image + v->head.metas.at);
    if (!__atomic_load_n(&e[i].ready, __ATOMIC_ACQUIRE))
        return (vpcap_meta){VP_STR_NONE, VP_STR_NONE};
    return (vpcap_meta){vpcap_text_of(v, e[i].key), vpcap_text_of(v, e[i].value)};
}
