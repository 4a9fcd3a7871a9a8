/* What writing a recording costs, in CPU time a zone. Usage:
 *   bench_capture_export [ZONES [REPEATS]]   one thread, zones nested four deep, in steps of 1,000
 * Prints a line of JSON: ns a zone for the XSpace, for the JSON, and for walking the image alone.
 */
#include <fcntl.h>
#include <time.h>

#include "tests/unit/recorded.h"
#include "trace/capture/pool/recorder.h"

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void leaf(int depth)
{
    VP_SCOPE("zone");
    if (depth)
        leaf(depth - 1);
}

static int record(recorded *r, const char *dir, uint64_t zones)
{
    vp_recording *rec;
    vp_config cfg = VP_CONFIG_INIT;
    char path[4200];
    cfg.dir = dir;
    cfg.host = "box";
    cfg.export_now = true;
    cfg.outputs = VP_OUT_XPLANE;
    cfg.pool_bytes = (size_t)zones * 17 + (8u << 20);
    if (vp_start(&rec, &cfg) < 0)
        return -1;
    for (uint64_t i = 0; i < zones / 1000; i++) {
        VP_STEP("train", i);
        for (int k = 0; k < 250; k++)
            leaf(3);
    }
    snprintf(path, sizeof path, "%s/box.vpcap", vp_recording_dir(rec));
    int rc = rec_slurp(path, &r->image, &r->n);
    vp_stop(rec, NULL);
    return rc < 0 ? rc : vpcap_open(&r->v, r->image, r->n);
}

static double walk(const vpcap *v, uint64_t *events)
{
    vpcap_cursor *c;
    vpcap_event e;
    double from = cpu_ns();
    *events = 0;
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        if (vpcap_cursor_new(&c, v, i) < 0)
            return -1;
        while (vpcap_next(c, &e) > 0)
            ++*events;
        vpcap_cursor_free(c);
    }
    return cpu_ns() - from;
}

static double write_once(const vpcap *v, int dir, unsigned outputs, uint64_t *bytes)
{
    double from = cpu_ns();
    int rc = cap_write(bytes, dir, v, NULL, outputs);
    return rc < 0 ? -1 : cpu_ns() - from;
}

static double least(double a, double b)
{
    return b < a ? b : a;
}

int main(int argc, char **argv)
{
    uint64_t zones = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, events = 0;
    int repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    char dir[] = "/tmp/bench_capture_XXXXXX";
    double xplane = 1e18, json = 1e18, alone = 1e18;
    uint64_t xplane_bytes = 0, json_bytes = 0;
    recorded r = {0};
    if (!mkdtemp(dir) || record(&r, dir, zones) < 0)
        return 1;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < repeats; i++) {
        alone = least(alone, walk(r.v, &events));
        xplane = least(xplane, write_once(r.v, fd, VP_OUT_XPLANE, &xplane_bytes));
        if (i < 2) /* takes ten times as long */
            json = least(json, write_once(r.v, fd, VP_OUT_TRACE_JSON, &json_bytes));
    }
    double n = (double)events;
    printf("{\"zones\": %llu, \"walk_ns\": %.1f, \"xplane_ns\": %.1f, \"xplane_bytes\": %.1f, "
           "\"json_gz_ns\": %.1f, \"json_gz_bytes\": %.1f}\n",
           (unsigned long long)events, alone / n, xplane / n, (double)xplane_bytes / n, json / n,
           (double)json_bytes / n);
    close(fd);
    rec_free(&r);
    printf("left in %s\n", dir);
    return xplane < 0 || json < 0;
}
