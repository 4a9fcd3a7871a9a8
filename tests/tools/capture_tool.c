/* Records the program of tests/unit/recorded.h below DIR, and prints what its image holds as JSON:
 * the truth that the files beside it are held against. The files in DIR/again are written from this
 * very image. Usage: capture_tool DIR
 *                          capture_tool --killed DIR   SIGKILL in the fourth of its steps */
#include "tests/unit/recorded.h"

#include <signal.h>

#include "trace/base/json.h"
#include "trace/capture/pool/recorder.h"

static void put_arg(vp_json *j, const vpcap_arg *a)
{
    char key[64];
    snprintf(key, sizeof key, "%.*s", VP_STR_ARG(a->key));
    if (a->type == VPCAP_STR)
        vp_json_kstr(j, key, a->s);
    else if (a->type == VPCAP_I64)
        vp_json_ki64(j, key, a->i);
    else {
        vp_json_key(j, key);
        vp_json_double(j, a->f);
    }
}

static void put_event(vp_json *j, const vpcap *v, const vpcap_event *e)
{
    static const char *const kinds[] = {"zone",    "step", "compile", "instant",
                                        "counter", "span", "lost"};
    vpcap_name name = vpcap_name_at(v, e->name);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "kind", kinds[e->kind]);
    vp_json_kstr(j, "name", name.name);
    vp_json_ki64(j, "start", e->start_ps);
    vp_json_ki64(j, "dur", e->dur_ps);
    vp_json_ki64(j, "line", name.line);
    vp_json_ki64(j, "track", e->track == VPCAP_NONE ? -1 : (int64_t)e->track);
    vp_json_ki64(j, "correlation", e->correlation);
    vp_json_ki64(j, "number", e->number);
    if (e->is_real) {
        vp_json_key(j, "real");
        vp_json_double(j, e->real);
    }
    vp_json_ki64(j, "flow_out", (int64_t)e->flow_out);
    vp_json_ki64(j, "flow_in", (int64_t)e->flow_in);
    vp_json_key(j, "args");
    vp_json_begin_object(j);
    for (uint32_t i = 0; i < e->arg_count; i++)
        put_arg(j, &e->args[i]);
    vp_json_end_object(j);
    vp_json_end_object(j);
}

static int put_thread(vp_json *j, const vpcap *v, uint32_t i)
{
    vpcap_cursor *c;
    vpcap_event e;
    vpcap_thread t = vpcap_thread_at(v, i);
    if (vpcap_cursor_new(&c, v, i) < 0)
        return -1;
    vp_json_begin_object(j);
    vp_json_ki64(j, "tid", t.tid);
    vp_json_kstr(j, "name", t.name);
    vp_json_key(j, "events");
    vp_json_begin_array(j);
    while (vpcap_next(c, &e) > 0)
        put_event(j, v, &e);
    vp_json_end_array(j);
    vp_json_end_object(j);
    vpcap_cursor_free(c);
    return 0;
}

static int write_truth(vp_buf *b, const recorded *r)
{
    vp_json j;
    const vpcap_info *info = vpcap_info_of(r->v);
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "run_dir", r->run_dir);
    vp_json_ki64(&j, "start_unix_ns", info->start_unix_ns);
    vp_json_ki64(&j, "end_ps", info->end_ps);
    vp_json_key(&j, "tracks");
    vp_json_begin_array(&j);
    for (uint32_t i = 0; i < vpcap_tracks(r->v); i++)
        vp_json_str(&j, vpcap_track_at(r->v, i).name);
    vp_json_end_array(&j);
    vp_json_key(&j, "threads");
    vp_json_begin_array(&j);
    for (uint32_t i = 0; i < vpcap_threads(r->v); i++)
        if (put_thread(&j, r->v, i) < 0)
            return -1;
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

static int write_again(const recorded *r, const char *dir)
{
    char path[4200];
    uint64_t bytes;
    snprintf(path, sizeof path, "%s/again", dir);
    if (mkdir(path, 0777) < 0)
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc =
        cap_write(&bytes, fd, r->v, NULL, VP_OUT_XPLANE | VP_OUT_TRACE_JSON | VP_OUT_PERFETTO_JSON);
    close(fd);
    return rc;
}

static int die(const char *dir)
{
    vp_recording *rec;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = dir;
    cfg.host = "box";
    cfg.pool_bytes = 1u << 20;
    if (vp_start(&rec, &cfg) < 0)
        return 1;
    for (int i = 0;; i++) {
        VP_STEP("train", i);
        VP_SCOPE("forward"); /* most of the step, also where something interrupts it */
        usleep(1000);
        if (i == 3)
            kill(getpid(), SIGKILL);
    }
}

int main(int argc, char **argv)
{
    recorded r;
    vp_buf b;
    if (argc == 3 && strcmp(argv[1], "--killed") == 0)
        return die(argv[2]);
    if (argc != 2 || rec_make(&r, argv[1], 0) < 0)
        return 1;
    vp_buf_init(&b, SIZE_MAX / 4);
    int rc = write_again(&r, argv[1]);
    if (rc >= 0)
        rc = write_truth(&b, &r);
    if (rc >= 0)
        fwrite(b.p, 1, b.n, stdout);
    vp_buf_free(&b);
    rec_free(&r);
    return rc < 0;
}
