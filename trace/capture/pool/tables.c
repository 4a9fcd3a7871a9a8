#include "trace/capture/pool/tables.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap.h"

#define DEVICES_MAX 256u
#define TRACKS_MAX 4096u
#define METAS_MAX 1024u

typedef struct device {
    int kind, ordinal;
    char *model;
    uint32_t clock; /* 0: the recording's */
} device;

typedef struct track {
    uint32_t device;
    char *name;
} track;

typedef struct meta {
    char *key, *value;
} meta;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cap_pool *live; /* pool of the active recording */
static device devices[DEVICES_MAX];
static track tracks[TRACKS_MAX];
static meta metas[METAS_MAX];
static uint32_t device_count, track_count, meta_count;

void cap_tables_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cap_tables_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void *table_entry_at(const vpcap_area *area, uint32_t i, size_t size)
{
    return live->image + area->at + i * size;
}

static void show_used(vpcap_area *area, uint32_t count)
{
    __atomic_store_n(&area->used, count, __ATOMIC_RELEASE);
}

static void write_device(uint32_t i)
{
    vpcap_device_entry *e = table_entry_at(&live->head->devices, i, sizeof *e);
    e->kind = (uint32_t)devices[i].kind;
    e->ordinal = devices[i].ordinal;
    pool_string(live, &e->model, devices[i].model);
    __atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
    show_used(&live->head->devices, device_count);
}

static void write_track(uint32_t i)
{
    vpcap_track_entry *e = table_entry_at(&live->head->tracks, i, sizeof *e);
    e->device = tracks[i].device;
    pool_string(live, &e->name, tracks[i].name);
    __atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
    show_used(&live->head->tracks, track_count);
}

static void write_meta(uint32_t i)
{
    vpcap_meta_entry *e = table_entry_at(&live->head->metas, i, sizeof *e);
    __atomic_store_n(&e->ready, 0, __ATOMIC_RELAXED);
    pool_string(live, &e->key, metas[i].key);
    pool_string(live, &e->value, metas[i].value);
    __atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
    show_used(&live->head->metas, meta_count);
}

void cap_tables_enter(cap_pool *p)
{
    pthread_mutex_lock(&lock);
    live = p;
    for (uint32_t i = 0; i < device_count; i++)
        write_device(i);
    for (uint32_t i = 0; i < track_count; i++)
        write_track(i);
    for (uint32_t i = 0; i < meta_count; i++)
        write_meta(i);
    pthread_mutex_unlock(&lock);
}

void cap_tables_leave(void)
{
    pthread_mutex_lock(&lock);
    live = NULL;
    pthread_mutex_unlock(&lock);
}

static char *copy_table_text(const char *s)
{
    return vp_strndup(s ? s : "", s ? strnlen(s, VPCAP_STRING_MAX) : 0);
}

static uint32_t table_find_device(int kind, int ordinal, const char *model)
{
    for (uint32_t i = 0; i < device_count; i++)
        if (devices[i].kind == kind && devices[i].ordinal == ordinal &&
            (kind != VP_CAPTURE_CUSTOM || strcmp(devices[i].model, model) == 0))
            return i + 1;
    return 0;
}

static int table_add_device(uint32_t *out, int kind, int ordinal, const char *model)
{
    *out = table_find_device(kind, ordinal, model);
    if (*out)
        return 0;
    if (device_count == DEVICES_MAX)
        return vp_fail(VP_ELIMIT, "more than %u devices", DEVICES_MAX);
    device d = {kind, ordinal, copy_table_text(model), 0};
    if (!d.model)
        return vp_fail(VP_ENOMEM, "out of memory: a device");
    devices[device_count++] = d;
    *out = device_count;
    if (live)
        write_device(device_count - 1);
    return 0;
}

vp_device_id vp_device_add(vp_capture_device kind, int ordinal, const char *model)
{
    uint32_t id = 0;
    if (kind < VP_CAPTURE_GPU || kind > VP_CAPTURE_CUSTOM || ordinal < 0) {
        vp_fail(VP_EARG, "no device %d of kind %d", ordinal, (int)kind);
        return 0;
    }
    pthread_mutex_lock(&lock);
    table_add_device(&id, (int)kind, ordinal, model ? model : "");
    pthread_mutex_unlock(&lock);
    return id;
}

static int table_add_track(uint32_t *out, uint32_t device_id, const char *name)
{
    *out = 0;
    if (!device_id || device_id > device_count)
        return vp_fail(VP_EARG, "a track needs a device from vp_device_add");
    for (uint32_t i = 0; i < track_count; i++)
        if (tracks[i].device == device_id - 1 && strcmp(tracks[i].name, name) == 0) {
            *out = i + 1;
            return 0;
        }
    if (track_count == TRACKS_MAX)
        return vp_fail(VP_ELIMIT, "more than %u tracks", TRACKS_MAX);
    track t = {device_id - 1, copy_table_text(name)};
    if (!t.name)
        return vp_fail(VP_ENOMEM, "out of memory: a track");
    tracks[track_count] = t;
    __atomic_store_n(&track_count, track_count + 1, __ATOMIC_RELEASE); /* spans read it unlocked */
    *out = track_count;
    if (live)
        write_track(track_count - 1);
    return 0;
}

vp_track_id vp_track_add(vp_device_id device_id, const char *name)
{
    uint32_t id = 0;
    pthread_mutex_lock(&lock);
    table_add_track(&id, device_id, name ? name : "");
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t cap_tables_clock(uint32_t track_id)
{
    if (!track_id || track_id > __atomic_load_n(&track_count, __ATOMIC_ACQUIRE))
        return VPCAP_NONE;
    return __atomic_load_n(&devices[tracks[track_id - 1].device].clock, __ATOMIC_ACQUIRE);
}

int cap_tables_set_clock(uint32_t device_id, uint32_t clock)
{
    if (!device_id || device_id > device_count)
        return vp_fail(VP_EARG, "a clock needs a device from vp_device_add");
    __atomic_store_n(&devices[device_id - 1].clock, clock, __ATOMIC_RELEASE);
    return 0;
}

static int set_meta(const char *key, const char *value)
{
    uint32_t i = 0;
    while (i < meta_count && strcmp(metas[i].key, key) != 0)
        i++;
    if (i == METAS_MAX)
        return vp_fail(VP_ELIMIT, "more than %u metas", METAS_MAX);
    meta m = {i < meta_count ? metas[i].key : copy_table_text(key), copy_table_text(value)};
    if (!m.key || !m.value) {
        vp_free(m.value);
        if (i == meta_count)
            vp_free(m.key);
        return vp_fail(VP_ENOMEM, "out of memory: a meta");
    }
    vp_free(metas[i].value);
    metas[i] = m;
    meta_count += i == meta_count;
    if (live)
        write_meta(i);
    return 0;
}

int vp_meta_str(const char *key, const char *value)
{
    int rc;
    if (!key || !*key || !value)
        return vp_fail(VP_EARG, "a meta needs a key and a value");
    if (strlen(key) > VPCAP_STRING_MAX)
        return vp_fail(VP_EARG, "a meta's key has more than %u bytes", VPCAP_STRING_MAX);
    pthread_mutex_lock(&lock);
    rc = set_meta(key, value);
    pthread_mutex_unlock(&lock);
    return rc;
}

int vp_meta_int(const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return vp_meta_str(key, text);
}

int vp_meta_sharding(const char *array, const char *spec, bool replicated)
{
    VP_CLEANUP(vp_buf_free) vp_buf key, value;
    if (!array || !*array || !spec)
        return vp_fail(VP_EARG, "a sharding needs an array and a spec");
    vp_buf_init(&key, VPCAP_STRING_MAX + 1);
    vp_buf_init(&value, VPCAP_STRING_MAX + 1);
    vp_buf_printf(&key, "sharding.%s", array);
    VP_TRY(vp_buf_printf(&value, "%s%s", spec, replicated ? " (replicated)" : ""));
    VP_TRY(key.status);
    return vp_meta_str(vp_buf_cstr(&key), vp_buf_cstr(&value));
}
