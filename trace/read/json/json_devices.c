/* Devices without a process in the file. */
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/json/json_reader.h"

/* Devices without a process: Kineto's, which kernels name in their args, and XLA's thread pools on
 * CPU. */
static int device_process_of(cj_reader *r, uint64_t key, const sink_process *info, uint32_t *index)
{
    cj_device d = {.track = SINK_NONE, .number = -1};
    if (info->kind == SINK_PROCESS_GPU)
        d.number = info->ordinal;
    *index = vp_map_get(&r->maps[CJ_BY_DEVICE], key);
    if (*index != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&r->devices, &r->device_cap, r->device_count + 1, sizeof d, VP_PROCESSES_MAX));
    VP_TRY(r->out->process(r->out, info, &d.id));
    *index = (uint32_t)r->device_count;
    VP_TRY(vp_map_set(&r->maps[CJ_BY_DEVICE], key, *index));
    r->devices[r->device_count++] = d;
    return 0;
}

/* Reads one member of a device's properties. */
static void take_property(cj_model *m, js_value *id, js_value *name, vp_str key, js_value v)
{
    const struct {
        vp_str key;
        int64_t *to;
    } figures[] = {{VP_STR("numSms"), &m->chip.cores},
                   {VP_STR("totalGlobalMem"), &m->chip.memory_bytes},
                   {VP_STR("computeMajor"), &m->chip.major},
                   {VP_STR("computeMinor"), &m->chip.minor}};
    if (vp_str_eq(key, VP_STR("id")))
        *id = v;
    else if (vp_str_eq(key, VP_STR("name")))
        *name = v;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (vp_str_eq(key, figures[i].key) && js_to_count(v.s) > 0)
            *figures[i].to = js_to_count(v.s);
}

int cj_models(cj_reader *r, vp_str array)
{
    const char *p = array.p + 1, *end = array.p + array.n;
    while ((p = memchr(p, '{', (size_t)(end - p))) != NULL) {
        js_value id = {0}, name = {0}, v;
        cj_model m = {0};
        vp_str key;
        js_step step;
        for (p++; (step = js_next_member(&p, end, r->skip, &key, &v)) == JS_MEMBER;)
            take_property(&m, &id, &name, key, v);
        if (step != JS_CLOSE)
            return 0;
        if (name.type != JS_STRING || !js_to_id(id.s, &m.id))
            continue;
        VP_TRY(cj_scratch(r, name.s.n));
        VP_TRY(vp_intern_put(&r->names, cj_text(r, name), &m.name));
        VP_TRY(vp_grow(&r->models, &r->model_cap, r->model_count + 1, sizeof m, VP_PROCESSES_MAX));
        r->models[r->model_count++] = m;
    }
    return 0;
}

/* The model of a device. ROCm numbers kernels by the machine's devices, but describes only the
 * visible ones: if these all have one model, so has every device. */
static const cj_model *model_of(const cj_reader *r, int64_t id)
{
    bool equal = r->model_count > 0;
    for (size_t i = 0; i < r->model_count; i++) {
        if (r->models[i].id == id)
            return &r->models[i];
        equal = equal && r->models[i].name == r->models[0].name;
    }
    return equal ? &r->models[0] : NULL;
}

static int gpu_of(cj_reader *r, js_value key, bool mtia, uint32_t *index)
{
    uint64_t hash = vp_mix(cj_hash(key, 8) + mtia);
    char name[64];
    int64_t id;
    *index = vp_map_get(&r->maps[CJ_BY_DEVICE], hash);
    if (*index != VP_MAP_NONE)
        return 0;
    VP_TRY(cj_scratch(r, key.s.n));
    vp_str text = cj_text(r, key);
    int n = snprintf(name, sizeof name, "%s %.*s", mtia ? "MTIA" : "GPU", VP_STR_CUT(text, 40u));
    sink_process info = {.name = {name, (size_t)n},
                         .kind = mtia ? SINK_PROCESS_OTHER : SINK_PROCESS_GPU,
                         .id = -1,
                         .ordinal = -1};
    if (js_to_id(key.s, &id)) {
        info.id = id;
        info.ordinal = id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
    }
    return device_process_of(r, hash, &info, index);
}

/* The track of a stream, named "stream 7" or by Kineto's thread_name. `text` holds the name. */
static sink_track describe_stream(const cj_reader *r, const cj_thread *t, uint32_t process,
                                  char text[64])
{
    const cj_token *tid = &r->tokens[t->token];
    sink_track info = {.process = process,
                       .name = vp_str_trim(vp_intern_get(&r->names, t->name)),
                       .id = tid->number,
                       .role = SINK_ROLE_OPS};
    vp_str number = vp_str_head(vp_intern_get(&r->names, tid->text), 40);
    if (!info.name.n && tid->is_name)
        info.name = vp_intern_get(&r->names, tid->text);
    if (!info.name.n)
        info.name = (vp_str){text, (size_t)snprintf(text, 64, "stream %.*s", VP_STR_ARG(number))};
    return info;
}

int cj_gpu_track(cj_reader *r, const cj_thread *t, js_value key, bool mtia, uint32_t *track)
{
    uint32_t device;
    cj_stream s = {.thread = (uint32_t)(t - r->threads)};
    VP_TRY(gpu_of(r, key, mtia, &device));
    uint64_t pair = (uint64_t)device << 32 | s.thread;
    uint32_t index = vp_map_get(&r->maps[CJ_BY_STREAM], pair);
    if (index == VP_MAP_NONE) {
        char text[64];
        s.device = device;
        sink_track info = describe_stream(r, t, r->devices[device].id, text);
        VP_TRY(vp_grow(&r->streams, &r->stream_cap, r->stream_count + 1, sizeof s, VP_TRACKS_MAX));
        VP_TRY(r->out->track(r->out, &info, &s.track));
        index = (uint32_t)r->stream_count;
        VP_TRY(vp_map_set(&r->maps[CJ_BY_STREAM], pair, index));
        r->streams[r->stream_count++] = s;
    }
    *track = r->streams[index].track;
    return 0;
}

int cj_cpu_track(cj_reader *r, int64_t ordinal, uint32_t *track)
{
    char name[48];
    uint32_t index;
    int n = snprintf(name, sizeof name, "/host:CPU:%lld", (long long)ordinal);
    sink_process info = {.name = {name, (size_t)n},
                         .id = ordinal,
                         .kind = SINK_PROCESS_CPU,
                         .ordinal = ordinal <= INT32_MAX ? (int32_t)ordinal : -1};
    VP_TRY(device_process_of(r, vp_mix((uint64_t)ordinal) ^ 1, &info, &index));
    cj_device *d = &r->devices[index];
    if (d->track == SINK_NONE) {
        sink_track ops = {
            .process = d->id, .name = VP_STR("ops"), .role = SINK_ROLE_OPS, .one_timeline = true};
        VP_TRY(r->out->track(r->out, &ops, &d->track));
    }
    *track = d->track;
    return 0;
}

/* Kineto describes its devices before or after the events. */
static int tell_model(cj_reader *r, const cj_device *d)
{
    const cj_model *m = model_of(r, d->number);
    if (d->number < 0 || !m)
        return 0;
    sink_process info = {.model = vp_intern_get(&r->names, m->name),
                         .id = d->number,
                         .kind = SINK_PROCESS_GPU,
                         .ordinal = (int32_t)d->number,
                         .chip = m->chip};
    return r->out->process_update(r->out, d->id, &info);
}

int cj_devices_finish(cj_reader *r)
{
    for (size_t i = 0; i < r->device_count; i++)
        VP_TRY(tell_model(r, &r->devices[i]));
    for (size_t i = 0; i < r->stream_count; i++) {
        char text[64];
        const cj_stream *s = &r->streams[i];
        const cj_thread *t = &r->threads[s->thread];
        if (!t->name)
            continue;
        sink_track info = describe_stream(r, t, r->devices[s->device].id, text);
        VP_TRY(r->out->track_update(r->out, s->track, &info));
    }
    return 0;
}
