/* Stacks as a speedscope document: the frames that the profiles share, then one profile per device,
 * first all its samples, then their weights. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/flame/stack_stream.h"

/* Parts of the document, in order; those from PROFILE on occur once per device. */
enum { HEAD, FRAMES, PROFILE, SAMPLES, WEIGHTS, DONE };

static int intern_frame_name(vp_sid *out, flame_stream *t, const char *name)
{
    return vp_intern_put(&t->names, name && *name ? vp_str_of(name) : VP_STR("(no name)"), out);
}

/* Frames with the same name are one frame, so that the time of a function or op can be summed over
 * all its places. */
static int number_frames(flame_stream *t)
{
    const flame_stacks *s = t->s;
    for (size_t i = 0; i < s->n; i++) {
        VP_TRY(flame_frames_of(&t->frames, s, &s->v[i]));
        for (size_t k = 0; k < t->frames.n; k++) {
            uint32_t scope = t->frames.v[k];
            if (!t->of_scope[scope])
                VP_TRY(intern_frame_name(&t->of_scope[scope], t, s->r->scopes[scope].name));
        }
        if (s->v[i].op)
            VP_TRY(intern_frame_name(&t->of_op[i], t, s->v[i].op));
    }
    return 0;
}

static void speedscope_put_head(flame_stream *t)
{
    vp_json *j = &t->json;
    const vp_report *r = t->s->r;
    vp_json_begin_object(j);
    vp_json_kcstr(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    vp_json_kcstr(j, "exporter", "view_profile@" VP_VERSION);
    if (r->session_name)
        vp_json_kcstr(j, "name", r->session_name);
    vp_json_key(j, "shared");
    vp_json_begin_object(j);
    vp_json_key(j, "frames");
    vp_json_begin_array(j);
    t->part = FRAMES;
    t->at = 1;
}

static void put_frames(flame_stream *t)
{
    vp_json *j = &t->json;
    if (t->at < t->names.count) {
        vp_json_begin_object(j);
        vp_json_kstr(j, "name", vp_intern_get(&t->names, (vp_sid)t->at++));
        vp_json_end_object(j);
        return;
    }
    vp_json_end_array(j);
    vp_json_end_object(j);
    vp_json_key(j, "profiles");
    vp_json_begin_array(j);
    t->part = PROFILE;
    t->end = 0;
}

static void speedscope_put_device(flame_stream *t, const vp_device *d)
{
    vp_buf name;
    vp_buf_init(&name, VP_REPORT_BYTES_MAX);
    if (t->s->r->host_count > 1 && d->host)
        vp_buf_printf(&name, "%s: ", d->host);
    vp_buf_puts(&name, d->name ? d->name : "(no name)");
    vp_json_kstr(&t->json, "name", vp_buf_view(&name));
    vp_buf_free_piece(&t->piece, &name);
}

static void put_profile(flame_stream *t)
{
    vp_json *j = &t->json;
    const flame_stacks *s = t->s;
    int64_t all_ns = 0;
    if (t->end == s->n) {
        vp_json_end_array(j);
        vp_json_end_object(j);
        vp_buf_putc(&t->piece, '\n');
        t->part = DONE;
        return;
    }
    for (t->from = t->end; t->end < s->n && s->v[t->end].device == s->v[t->from].device; t->end++)
        all_ns += s->v[t->end].ns;
    vp_json_begin_object(j);
    vp_json_kcstr(j, "type", "sampled");
    speedscope_put_device(t, &s->r->devices[s->v[t->from].device]);
    vp_json_kcstr(j, "unit", "nanoseconds");
    vp_json_ki64(j, "startValue", 0);
    vp_json_ki64(j, "endValue", all_ns);
    vp_json_key(j, "samples");
    vp_json_begin_array(j);
    t->part = SAMPLES;
    t->at = t->from;
}

static int put_sample(flame_stream *t)
{
    vp_json *j = &t->json;
    if (t->at == t->end) {
        vp_json_end_array(j);
        vp_json_key(j, "weights");
        vp_json_begin_array(j);
        t->part = WEIGHTS;
        t->at = t->from;
        return 0;
    }
    VP_TRY(flame_frames_of(&t->frames, t->s, &t->s->v[t->at]));
    vp_json_begin_array(j);
    for (size_t i = t->frames.n; i-- > 0;)
        vp_json_i64(j, t->of_scope[t->frames.v[i]] - 1);
    if (t->of_op[t->at])
        vp_json_i64(j, t->of_op[t->at] - 1);
    vp_json_end_array(j);
    t->at++;
    return 0;
}

static void put_weight(flame_stream *t)
{
    if (t->at < t->end) {
        vp_json_i64(&t->json, t->s->v[t->at++].ns);
        return;
    }
    vp_json_end_array(&t->json);
    vp_json_end_object(&t->json);
    t->part = PROFILE;
}

static int speedscope_put_part(flame_stream *t)
{
    int rc = 0;
    switch (t->part) {
    case HEAD:
        speedscope_put_head(t);
        break;
    case FRAMES:
        put_frames(t);
        break;
    case PROFILE:
        put_profile(t);
        break;
    case SAMPLES:
        rc = put_sample(t);
        break;
    case WEIGHTS:
        put_weight(t);
        break;
    default:
        return 0;
    }
    return rc < 0 ? rc : t->piece.status < 0 ? t->piece.status : 1;
}

int flame_speedscope_open(flame_stream *t)
{
    t->step = speedscope_put_part;
    t->of_scope = vp_calloc(t->s->r->scope_count + 1, sizeof *t->of_scope);
    t->of_op = vp_calloc(t->s->n + 1, sizeof *t->of_op);
    VP_NEED(t->of_scope && t->of_op);
    VP_TRY(vp_intern_init(&t->names, &t->arena));
    VP_TRY(number_frames(t));
    vp_json_init(&t->json, &t->piece);
    return 0;
}
