/* A program that records itself through the public API: three threads, ten steps, scopes,
 * overlapping pairs, arguments, counters, flows, launches and launched ops on two devices; and the
 * resulting image. Every output must have the content of the image (vpcap.h). */
#ifndef VP_TESTS_UNIT_RECORDED_H
#define VP_TESTS_UNIT_RECORDED_H

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/view_profile_capture.h"
#include "trace/vpcap/vpcap.h"

enum { REC_STEPS = 10, REC_FIRST_STEP = 100, REC_INNER = 700, REC_BYTES = 4096 };

typedef struct recorded {
    char run_dir[4096];
    char *image;
    size_t n;
    vpcap *v;
} recorded;

/* State shared by the threads. */
typedef struct rec_shared {
    pthread_barrier_t turn;
    uint64_t flow;
    vp_track_id compute, copies, custom;
    uint32_t matmul;
} rec_shared;

static inline void rec_inner(int depth)
{
    VP_SCOPE("inner");
    if (depth)
        rec_inner(depth - 1);
}

/* Receives the work of a step, and launches a kernel for it. */
static inline void *rec_worker(void *arg)
{
    rec_shared *s = arg;
    vp_thread_name("worker");
    for (int i = 0; i < REC_STEPS; i++) {
        pthread_barrier_wait(&s->turn);
        {
            VP_SCOPE("consume");
            VP_FLOW_IN(s->flow);
            uint32_t correlation = vp_correlation_push();
            {
                VP_LAUNCH("launch", correlation);
            }
            vp_correlation_pop();
            uint64_t now = vp_now();
            vp_arg args[] = {VP_I64("flops", 2000 + i), VP_I64("bytes_accessed", 64)};
            vp_record_span(s->compute, s->matmul, now, now + 20000, correlation, args, 2);
            vp_record_transfer(s->copies, VP_COPY_H2D, REC_BYTES, now, now + 5000, 0, 0, 0);
            vp_record_collective(s->compute, VP_ALL_REDUCE, 8 * REC_BYTES, 1, 0, 4, now + 30000,
                                 now + 40000, (uint64_t)i + 1);
        }
        pthread_barrier_wait(&s->turn);
    }
    VP_SCOPE("goodbye");
    return NULL;
}

/* Zones of another thread, outside of steps; enough for several blocks of the writer. */
static inline void *rec_loner(void *arg)
{
    (void)arg;
    VP_SCOPE("alone");
    for (int i = 0; i < 12000; i++) {
        VP_SCOPE("tick");
        if (i % 1000 == 0)
            VP_INSTANT("thousand");
    }
    return NULL;
}

static inline void rec_step(rec_shared *s, int i)
{
    VP_STEP("train", REC_FIRST_STEP + i);
    {
        VP_SCOPE_ARGS("load_batch", VP_I64("bytes_transferred", -5 - i), VP_F64("ratio", 0.25),
                      vp__arg_str("shape", "f32[8,\"4\"] \xc3\xa9"));
        for (int k = 0; k < REC_INNER; k++)
            rec_inner(3);
    }
    VP_BEGIN("crossing a");
    {
        VP_SCOPE("hand over");
        s->flow = vp_flow_new();
        VP_FLOW_OUT(s->flow);
    }
    VP_COUNTER("loss milli", 1000 - i);
    VP_COUNTER_F("loss", 1.0 / (1 + i));
    VP_END();
    pthread_barrier_wait(&s->turn);
    pthread_barrier_wait(&s->turn);
}

static inline void rec_run(void)
{
    rec_shared s = {0};
    pthread_t worker, loner;
    vp_device_id gpu = vp_device_add(VP_CAPTURE_GPU, 0, "Model X");
    vp_device_id link = vp_device_add(VP_CAPTURE_CUSTOM, 0, "NIC");
    s.compute = vp_track_add(gpu, "compute");
    s.copies = vp_track_add(gpu, "Stream #9(MemcpyH2D)");
    s.custom = vp_track_add(link, "queue");
    s.matmul = vp_name("matmul # 1 \xe2\x9c\x93");
    vp_meta_str("mesh.shape", "4x2");
    vp_thread_name("main loop");
    pthread_barrier_init(&s.turn, NULL, 2);
    pthread_create(&worker, NULL, rec_worker, &s);
    pthread_create(&loner, NULL, rec_loner, NULL);
    VP_SCOPE("everything");
    {
        VP_COMPILE_SCOPE("jit_train_step");
    }
    uint64_t now = vp_now();
    vp_record_span(s.custom, vp_name("send"), now, now + 1000, 0, NULL, 0);
    for (int i = 0; i < REC_STEPS; i++)
        rec_step(&s, i);
    pthread_join(worker, NULL);
    pthread_join(loner, NULL);
    pthread_barrier_destroy(&s.turn);
}

static inline int rec_slurp(const char *path, char **out, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    *n = (size_t)st.st_size;
    *out = malloc(*n + 1);
    ssize_t got = read(fd, *out, *n);
    close(fd);
    return got == (ssize_t)*n ? 0 : -1;
}

/* Records into dir; the image is copied just before the end. 0, or -1. */
static inline int rec_make(recorded *r, const char *dir, unsigned outputs)
{
    vp_recording *rec;
    vp_result result = VP_RESULT_INIT;
    vp_config cfg = VP_CONFIG_INIT;
    char path[4200];
    cfg.dir = dir;
    cfg.host = "box";
    cfg.export_now = true;
    cfg.outputs = outputs;
    cfg.pool_bytes = 16u << 20;
    *r = (recorded){0};
    if (vp_start(&rec, &cfg) < 0)
        return -1;
    rec_run();
    snprintf(r->run_dir, sizeof r->run_dir, "%s", vp_recording_dir(rec));
    snprintf(path, sizeof path, "%s/box.vpcap", r->run_dir);
    int rc = rec_slurp(path, &r->image, &r->n);
    if (vp_stop(rec, &result) < 0 || rc < 0)
        return -1;
    return vpcap_open(&r->v, r->image, r->n) < 0 ? -1 : 0;
}

static inline void rec_free(recorded *r)
{
    vpcap_free(r->v);
    free(r->image);
}

#endif
