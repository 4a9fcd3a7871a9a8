#include "trace/capture/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/capture/pool/recorder.h"

/* A file's name has at most 255 bytes. This many belong to the host; the rest is added. */
#define NAME_MAX_HERE 240
#define OUTPUTS 4u

typedef struct output {
    char name[256], temp[256];
    bool written;
    uint64_t bytes;
} output;

void cap_host_file(char *out, size_t cap, vp_str host, const char *ending)
{
    host = vp_str_head(host, 200);
    snprintf(out, cap, "%.*s%s", host.n ? (int)host.n : 4, host.n ? host.p : "host", ending);
    for (char *p = out; *p; p++)
        if (*p == '/' || *p == ':' || (p == out && *p == '.'))
            *p = '_';
}

static void file_name(output *o, const vpcap_info *info, unsigned which)
{
    static const char *const suffixes[] = {[VP_OUT_XPLANE] = ".xplane.pb",
                                           [VP_OUT_TRACE_JSON] = ".trace.json.gz",
                                           [VP_OUT_RAW] = ".vpcap"};
    if (which == VP_OUT_PERFETTO_JSON)
        snprintf(o->name, sizeof o->name, "perfetto_trace.json.gz");
    else
        cap_host_file(o->name, sizeof o->name, info->host, suffixes[which]);
    snprintf(o->temp, sizeof o->temp, ".%.*s.part", NAME_MAX_HERE, o->name);
}

static int write_xplane(output *o, int fd, const vpcap *v, const gpu_activity *gpu)
{
    vx_counts counts;
    vp_str warnings[WR_GPU_WARNINGS];
    char text[100];
    size_t n = wr_gpu_warnings(warnings, text, gpu);
    VP_TRY(vx_write(&counts, fd, v, gpu ? wr_gpu_lines : NULL, (void *)gpu, warnings, n));
    o->bytes = counts.bytes;
    return 0;
}

static int write_temp(output *o, int run_fd, const vpcap *v, const gpu_activity *gpu,
                      unsigned which)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    fd = openat(run_fd, o->temp, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        int e = errno;
        return vp_fail(e == ENOSPC || e == EDQUOT ? VP_ENOSPC : VP_EIO, "cannot create %s: %s",
                       o->temp, strerror(e));
    }
    o->written = true;
    if (which == VP_OUT_XPLANE)
        VP_TRY(write_xplane(o, fd, v, gpu));
    else if (which == VP_OUT_RAW)
        VP_TRY(wr_raw(&o->bytes, fd, v));
    else
        VP_TRY(wr_json(&o->bytes, fd, v, gpu, which == VP_OUT_TRACE_JSON));
    if (close(vp_fs_take(&fd)) < 0) /* network file systems report a full disk only here */
        return vp_fail(errno == ENOSPC || errno == EDQUOT ? VP_ENOSPC : VP_EIO,
                       "cannot write %s: %s", o->name, strerror(errno));
    return 0;
}

/* Concurrent readers see only complete files; after a failure, none. */
int cap_write(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
              unsigned outputs)
{
    static const unsigned kinds[OUTPUTS] = {VP_OUT_XPLANE, VP_OUT_TRACE_JSON, VP_OUT_PERFETTO_JSON,
                                            VP_OUT_RAW};
    output files[OUTPUTS] = {0};
    uint64_t sum = 0;
    int rc = 0;
    size_t renamed = 0;
    for (size_t i = 0; rc >= 0 && i < OUTPUTS; i++) {
        if (!(outputs & kinds[i]))
            continue;
        file_name(&files[i], vpcap_info_of(v), kinds[i]);
        rc = write_temp(&files[i], run_fd, v, gpu, kinds[i]);
        sum += files[i].bytes;
    }
    for (; rc >= 0 && renamed < OUTPUTS; renamed++)
        if (files[renamed].written &&
            renameat(run_fd, files[renamed].temp, run_fd, files[renamed].name) < 0)
            rc = vp_fail(VP_EIO, "cannot rename %s: %s", files[renamed].name, strerror(errno));
    for (size_t i = 0; rc < 0 && i < OUTPUTS; i++)
        if (files[i].written)
            unlinkat(run_fd, i + 1 < renamed ? files[i].name : files[i].temp, 0);
    if (rc >= 0)
        *bytes = sum;
    return rc < 0 ? rc : 0;
}
