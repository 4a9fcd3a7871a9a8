/* What the JSON reader says about files, for tests in Python: json_tool FILE…
 * One JSON-free line each, tab separated:
 *   process FILE NAME EVENTS SUM_PS OP_EVENTS OP_SUM_PS
 *   quality FILE CODE MESSAGE
 *   refused FILE CODE MESSAGE */
#include <zlib.h>

#include "tests/unit/json_sink.h"

typedef struct gz_in {
    rd_stream base;
    gzFile file;
    char *chunk;
} gz_in;

static int gz_in_next(rd_stream *s, char **p, size_t *n)
{
    gz_in *in = (gz_in *)s;
    int got = gzread(in->file, in->chunk + RD_HEADROOM, 1 << 20);
    *p = in->chunk + RD_HEADROOM;
    *n = got > 0 ? (size_t)got : 0;
    return got > 0;
}

typedef struct sums {
    unsigned long long events, op_events;
    long long ps, op_ps;
} sums;

static void print_processes(const rec *r, const char *path)
{
    sums *all = calloc(r->process_n + 1, sizeof *all);
    for (size_t i = 0; i < r->event_n; i++) {
        const rec_track *t = &r->tracks[r->events[i].track];
        sums *s = &all[t->process];
        s->events++;
        s->ps += r->events[i].dur_ps;
        if (t->role == SINK_ROLE_OPS) {
            s->op_events++;
            s->op_ps += r->events[i].dur_ps;
        }
    }
    for (size_t i = 0; i < r->process_n; i++)
        printf("process\t%s\t%s\t%llu\t%lld\t%llu\t%lld\n", path, r->processes[i].name,
               all[i].events, all[i].ps, all[i].op_events, all[i].op_ps);
    free(all);
}

static void read_file(const char *path)
{
    gz_in in = {.base = {.next = gz_in_next, .total = -1, .raw_total = -1},
                .file = gzopen(path, "rb"),
                .chunk = malloc(RD_HEADROOM + (1 << 20) + RD_PAD)};
    rec *r = rec_new();
    int rc = cj_read(&r->s, &in.base, NULL);
    if (rc < 0)
        printf("refused\t%s\t%s\t%s\n", path, vp_status_name(rc), vp_error_last()->message);
    else
        print_processes(r, path);
    for (size_t i = 0; rc == 0 && i < r->quality_n; i++)
        printf("quality\t%s\t%s\t%s\n", path, r->quality[i].code, r->quality[i].message);
    rec_free(r);
    free(in.chunk);
    gzclose(in.file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_file(argv[i]);
    return 0;
}
