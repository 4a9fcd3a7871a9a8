/* The past of a recording that goes on: its image is copied while its threads write on, and the
 * copy is written like one that has ended. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/base/time.h"
#include "trace/capture/clock.h"
#include "trace/capture/cupti.h"
#include "trace/capture/session.h"
#include "trace/capture/thread.h"

/* Acquiring, so that what is asked of a chunk afterwards is not answered before. What is being
 * written meanwhile is copied as it is, and nothing in the copy leads to it: the thread sanitizer
 * would call it a race, which it is meant to be. */
__attribute__((no_sanitize("thread"))) static void copy_words(char *to, const char *from,
                                                              size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8)
        *(uint64_t *)(void *)(to + i) =
            __atomic_load_n((const uint64_t *)(const void *)(from + i), __ATOMIC_ACQUIRE);
}

static void copy_area(char *to, const char *from, const vpcap_area *a, size_t entry)
{
    uint64_t used = __atomic_load_n(&a->used, __ATOMIC_ACQUIRE);
    used = used < a->cap ? used : a->cap;
    copy_words(to + a->at, from + a->at, (used * entry + 7) / 8 * 8);
}

/* A chunk that is given to another thread meanwhile is none of the past any more. */
static void copy_chunk(vp__chunk *to, const vp__chunk *from)
{
    vp__chunk head;
    copy_words((char *)&head, (const char *)from, sizeof head);
    uint64_t state = __atomic_load_n(&from->state, __ATOMIC_ACQUIRE);
    uint32_t status = __atomic_load_n(&from->status, __ATOMIC_ACQUIRE);
    uint32_t slots = (uint32_t)state;
    head.state = state;
    head.status = status;
    if (slots > head.pages * (VP__PAGE / VP__SLOT))
        slots = 0;
    copy_words((char *)to, (const char *)from, (size_t)slots * VP__SLOT);
    if (VP__LOAD(from->status) == VP__CHUNK_CLAIMED || VP__LOAD(from->recycled) != head.recycled)
        head.status = VP__CHUNK_CLAIMED;
    *to = head;
}

static void copy_chunks(char *to, const cap_pool *p)
{
    vpcap_header *h = p->head;
    uint32_t end = __atomic_load_n(&h->pages_used, __ATOMIC_ACQUIRE);
    for (uint32_t page = 0; page < end;) {
        const vp__chunk *c = pool_chunk(p, page);
        uint32_t pages = __atomic_load_n(&c->pages, __ATOMIC_ACQUIRE);
        if (VP__LOAD(c->magic) != VP__CHUNK_MAGIC || !pages || pages > end - page) {
            page++;
            continue;
        }
        copy_chunk((vp__chunk *)(void *)(to + h->chunks_at + (uint64_t)page * VP__PAGE), c);
        page += pages;
    }
}

/* What refers to something is copied before it: a thread makes a name before the event that has it,
 * and the text before the name. So whatever is in the copy has in it what it refers to. */
static void copy_image(char *to, const cap_pool *p)
{
    copy_chunks(to, p);
    copy_words(to, p->image, sizeof(vpcap_header)); /* how many names there are */
    copy_area(to, p->image, &p->head->names, sizeof(vpcap_name_entry));
    copy_area(to, p->image, &p->head->devices, sizeof(vpcap_device_entry));
    copy_area(to, p->image, &p->head->tracks, sizeof(vpcap_track_entry));
    copy_area(to, p->image, &p->head->metas, sizeof(vpcap_meta_entry));
    copy_area(to, p->image, &p->head->strings, 1);
}

static void cut(vpcap_header *h, double seconds)
{
    clock_pair(&h->stop, 64);
    h->flags |= VPCAP_FINISHED;
    if (seconds <= 0)
        return;
    double ticks = seconds * (double)clock_rate();
    if (ticks < (double)(h->stop.ticks - h->start.ticks))
        h->cut_ticks = h->stop.ticks - (uint64_t)ticks;
}

static void count_events(vp_result *r, const vpcap *v)
{
    r->zones = 0;
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_cursor *c = NULL;
        vpcap_event e;
        if (vpcap_cursor_new(&c, v, i) < 0)
            continue;
        while (vpcap_next(c, &e))
            r->zones += e.kind != VPCAP_LOST && e.name != VPCAP_NAME_FLOW;
        vpcap_cursor_free(c);
    }
}

static int write_copy(vp_result *r, char *image, size_t size, const cap_session *s,
                      const gpu_activity *gpu)
{
    vpcap_header *h = (vpcap_header *)(void *)image;
    cap_run run;
    vpcap *v = NULL;
    int64_t begin = vp_now_ns();
    sigset_t before;
    VP_TRY(run_dir_make(&run, s->cfg.dir));
    snprintf(h->session, sizeof h->session, "%.200s", vp_path_name(run.path));
    int rc = vpcap_open(&v, image, size);
    run_dir_hold_signal(&before);
    if (rc == 0)
        rc = cap_writer(&r->bytes_written, run.fd, v, gpu, s->cfg.outputs);
    run_dir_free_signal(&before);
    if (rc == 0) {
        count_events(r, v);
        memcpy(r->run_dir, run.path, sizeof r->run_dir);
        r->duration_ns = h->stop.mono_ns - h->start.mono_ns;
        r->export_ns = vp_now_ns() - begin;
        run_dir_close(&run);
    } else {
        vp_fail_at(rc, run.path, -1, -1);
        run_dir_remove(&run);
    }
    vpcap_free(v);
    return rc;
}

/* What the GPU did since the cut, as far as it has told. */
static gpu_activity *gpu_past(vp_result *r, const cap_session *s, const vpcap_header *h)
{
    uint64_t ticks = h->cut_ticks ? h->stop.ticks - h->cut_ticks : 0;
    int64_t past_ns = (int64_t)((double)ticks / (double)clock_rate() * 1e9);
    if (s->cfg.gpu == VP_GPU_OFF)
        return NULL;
    gpu_activity *gpu = cupti_past(ticks ? h->stop.unix_ns - past_ns : 0);
    if (gpu) {
        r->gpu_records = gpu->count;
        r->gpu_dropped = gpu->dropped;
        r->gpu_status = gpu->status;
    }
    return gpu;
}

static int capture(cap_session *s, double seconds, vp_result *r)
{
    size_t size = cap_pool_now.size;
    char *image = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (image == MAP_FAILED)
        return vp_fail(VP_ENOMEM, "out of memory: a copy of the pool");
    copy_image(image, &cap_pool_now);
    *r = s->result;
    session_count(r, &cap_pool_now);
    cut((vpcap_header *)(void *)image, seconds);
    gpu_activity *gpu = gpu_past(r, s, (vpcap_header *)(void *)image);
    int rc = write_copy(r, image, size, s, gpu);
    gpu_activity_free(gpu);
    munmap(image, size);
    return rc;
}

int vp_capture_past(vp_recording *handle, double seconds, vp_result *result)
{
    vp_result r;
    session_lock();
    cap_session *s = session_find(handle);
    if (!s || s->state != CAP_ACTIVE || s->pid != getpid()) {
        int code = s && s->pid != getpid() ? VP_EFORKED : VP_EINACTIVE;
        session_unlock();
        return vp_fail(code, "this recording is not on");
    }
    s->readers++;
    session_unlock();
    int rc = capture(s, seconds, &r);
    session_lock();
    s->readers--;
    session_changed();
    session_unlock();
    if (rc == 0 && result)
        *result = r;
    return rc;
}
