/* Processes, threads and their tracks. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/json/json_reader.h"
#include "trace/read/semantics/roles.h"

/* Parses a numeric pid or tid; a missing one is 0. */
static bool parse_pid_or_tid(js_value v, int64_t *number)
{
    *number = 0;
    return v.type == JS_NONE || (v.type != JS_NESTED && js_to_id(v.s, number));
}

static int intern_text(cj_reader *r, js_value v, vp_sid *sid)
{
    VP_TRY(cj_scratch(r, v.s.n));
    return vp_intern_put(&r->names, cj_text(r, v), sid);
}

static int new_token(cj_reader *r, vp_map *map, uint64_t key, cj_token token, uint32_t *id)
{
    VP_TRY(vp_grow(&r->tokens, &r->token_cap, r->token_count + 1, sizeof token,
                   2 * (size_t)VP_TRACKS_MAX));
    *id = (uint32_t)r->token_count;
    VP_TRY(vp_map_set(map, key, *id));
    r->tokens[r->token_count++] = token;
    return 0;
}

static int token_of(cj_reader *r, js_value v, uint32_t *id)
{
    cj_token token = {0};
    if (parse_pid_or_tid(v, &token.number)) {
        *id = vp_map_get(&r->maps[CJ_BY_NUMBER], (uint64_t)token.number);
        if (*id != VP_MAP_NONE)
            return 0;
        VP_TRY(intern_text(r, v, &token.text));
        return new_token(r, &r->maps[CJ_BY_NUMBER], (uint64_t)token.number, token, id);
    }
    token.is_name = true;
    token.number = -1;
    VP_TRY(intern_text(r, v, &token.text));
    *id = vp_map_get(&r->maps[CJ_BY_TEXT], token.text);
    return *id != VP_MAP_NONE ? 0 : new_token(r, &r->maps[CJ_BY_TEXT], token.text, token, id);
}

/* True for pids under which Kineto writes marks of the recording itself: a span over all of it, its
 * start, and, for pid "", its end. */
static bool is_marks(js_value pid)
{
    return pid.type == JS_STRING &&
           (vp_str_eq(pid.s, VP_STR("Spans")) || vp_str_eq(pid.s, VP_STR("Traces")));
}

static int process_index(cj_reader *r, js_value pid, uint32_t *index)
{
    cj_process p = {.id = SINK_NONE};
    VP_TRY(token_of(r, pid, &p.token));
    *index = vp_map_get(&r->maps[CJ_BY_PID], p.token);
    if (*index != VP_MAP_NONE)
        return 0;
    VP_TRY(
        vp_grow(&r->processes, &r->process_cap, r->process_count + 1, sizeof p, VP_PROCESSES_MAX));
    *index = (uint32_t)r->process_count;
    VP_TRY(vp_map_set(&r->maps[CJ_BY_PID], p.token, *index));
    r->processes[r->process_count++] = p;
    r->has_marks = r->has_marks || is_marks(pid);
    return 0;
}

static int thread_index(cj_reader *r, const cj_fields *f, uint32_t *index)
{
    cj_thread t = {.track = SINK_NONE, .lane = SINK_NONE, .last_ps = SINK_NO_TIME};
    /* Without a tid it is the process's main thread, as in Perfetto. */
    js_value tid = f->v[f->v[CJ_TID].type == JS_NONE ? CJ_PID : CJ_TID];
    VP_TRY(process_index(r, f->v[CJ_PID], &t.process));
    VP_TRY(token_of(r, tid, &t.token));
    uint64_t pair = (uint64_t)t.process << 32 | t.token;
    *index = vp_map_get(&r->maps[CJ_BY_PAIR], pair);
    if (*index != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&r->threads, &r->thread_cap, r->thread_count + 1, sizeof t, VP_TRACKS_MAX));
    *index = (uint32_t)r->thread_count;
    VP_TRY(vp_map_set(&r->maps[CJ_BY_PAIR], pair, *index));
    r->threads[r->thread_count++] = t;
    return 0;
}

/* True if pid and tid equal those of the previous event, the common case. */
static bool is_last(const cj_reader *r, const js_value *pid, const js_value *tid)
{
    return r->last.thread != SINK_NONE && pid->s.n == r->last.pid_n && tid->s.n == r->last.tid_n &&
           !memcmp(pid->s.p, r->last.pid, pid->s.n) && !memcmp(tid->s.p, r->last.tid, tid->s.n);
}

int cj_thread_of(cj_reader *r, const cj_fields *f, cj_thread **t)
{
    const js_value *pid = &f->v[CJ_PID], *tid = &f->v[CJ_TID];
    uint32_t index;
    if (is_last(r, pid, tid)) {
        *t = &r->threads[r->last.thread];
        return 0;
    }
    VP_TRY(thread_index(r, f, &index));
    *t = &r->threads[index];
    r->last.thread = SINK_NONE;
    if (!pid->s.n || !tid->s.n || pid->s.n > CJ_LAST_MAX || tid->s.n > CJ_LAST_MAX)
        return 0;
    memcpy(r->last.pid, pid->s.p, pid->s.n);
    memcpy(r->last.tid, tid->s.p, tid->s.n);
    r->last.pid_n = pid->s.n;
    r->last.tid_n = tid->s.n;
    r->last.thread = index;
    return 0;
}

static sink_process describe_process(const cj_reader *r, const cj_process *p)
{
    const cj_token *pid = &r->tokens[p->token];
    sink_process out = {.name = vp_intern_get(&r->names, p->name ? p->name : pid->text),
                        .id = pid->number};
    out.kind = rd_process_kind(vp_intern_get(&r->names, p->name), &out.ordinal);
    return out;
}

int cj_process_of(cj_reader *r, uint32_t process, uint32_t *id)
{
    cj_process *p = &r->processes[process];
    if (p->id == SINK_NONE) {
        sink_process info = describe_process(r, p);
        VP_TRY(r->out->process(r->out, &info, &p->id));
        p->changed = false;
    }
    *id = p->id;
    return 0;
}

/* True if a thread contains only such marks, which are not work. */
static bool holds_marks(const cj_reader *r, const cj_process *p, const cj_thread *t)
{
    const cj_token *pid = &r->tokens[p->token];
    if (!r->has_marks || p->name || !pid->is_name || !r->tokens[t->token].is_name)
        return false;
    vp_str text = vp_intern_get(&r->names, pid->text);
    return !text.n || is_marks((js_value){text, JS_STRING});
}

/* True if a thread is a device's stream whose kernels are on another track: its remaining events
 * are not work. */
static bool is_echo_only(const cj_reader *r, const cj_thread *t)
{
    return r->has_device && t->has_echo && !t->has_own;
}

vp_str cj_thread_name(const cj_reader *r, const cj_thread *t)
{
    return rd_bare_track(vp_intern_get(&r->names, cj_process_at(r, t)->name),
                         vp_intern_get(&r->names, t->name));
}

sink_role cj_role(const cj_reader *r, cj_thread *t)
{
    const cj_process *p = cj_process_at(r, t);
    if (!t->has_role || t->role_names != p->names) {
        t->role = holds_marks(r, p, t) || is_echo_only(r, t)
                      ? SINK_ROLE_DERIVED
                      : rd_role_of_id(vp_intern_get(&r->names, p->name), cj_thread_name(r, t),
                                      r->tokens[t->token].number);
        t->has_role = true;
        t->role_names = p->names;
    }
    return t->role;
}

static sink_track describe_track(const cj_reader *r, cj_thread *t)
{
    const cj_token *tid = &r->tokens[t->token];
    return (sink_track){.process = cj_process_at(r, t)->id,
                        .name =
                            t->name ? cj_thread_name(r, t) : vp_intern_get(&r->names, tid->text),
                        .id = tid->number,
                        .role = cj_role(r, t)};
}

int cj_new_track(cj_reader *r, cj_thread *t)
{
    uint32_t process;
    VP_TRY(cj_process_of(r, t->process, &process));
    sink_track info = describe_track(r, t);
    VP_TRY(r->out->track(r->out, &info, &t->track));
    t->changed = false;
    return 0;
}

/* The track of a process for async events, named by the prefix and their category. */
static int named_track(cj_reader *r, const cj_thread *t, vp_str prefix, js_value name,
                       uint32_t *track)
{
    uint64_t key = vp_mix(cj_hash(name, 7) ^ vp_hash(prefix.p, prefix.n, t->process));
    sink_track info = {.id = -1, .role = SINK_ROLE_PLAIN, .spans = prefix.n > 0};
    *track = vp_map_get(&r->maps[CJ_BY_CAT], key);
    if (*track != VP_MAP_NONE)
        return 0;
    VP_TRY(cj_process_of(r, t->process, &info.process));
    VP_TRY(cj_scratch(r, prefix.n + name.s.n));
    if (prefix.n)
        cj_text(r, (js_value){prefix, JS_STRING});
    info.name = (vp_str){r->scratch, prefix.n + cj_text(r, name).n};
    if (!name.s.n)
        info.name = vp_str_trim(prefix);
    VP_TRY(r->out->track(r->out, &info, track));
    return vp_map_set(&r->maps[CJ_BY_CAT], key, *track);
}

int cj_async_track(cj_reader *r, const cj_thread *t, const cj_fields *f, uint32_t *track)
{
    return named_track(r, t, VP_STR("async "), f->v[CJ_CAT], track);
}

int cj_memory_track(cj_reader *r, const cj_thread *t, js_value name, uint32_t *track)
{
    return named_track(r, t, name.s.n ? VP_STR_NONE : VP_STR("memory"), name, track);
}

/* Metadata events name processes and threads, anywhere in the file. */
int cj_metadata(cj_reader *r, const cj_fields *f)
{
    vp_str what = f->v[CJ_NAME].s, key;
    js_value args = f->v[CJ_ARGS], v = {0}, name = {0};
    bool process = vp_str_eq(what, VP_STR("process_name"));
    if (!process && !vp_str_eq(what, VP_STR("thread_name")))
        return 0;
    if (args.type != JS_NESTED)
        return 0;
    const char *p = args.s.p + 1;
    while (js_next_member(&p, args.s.p + args.s.n, r->skip, &key, &v) == JS_MEMBER)
        if (v.type == JS_STRING && vp_str_eq(key, VP_STR("name")))
            name = v;
    if (!name.s.n)
        return 0;
    uint32_t index;
    VP_TRY(process ? process_index(r, f->v[CJ_PID], &index) : thread_index(r, f, &index));
    vp_sid sid;
    VP_TRY(intern_text(r, name, &sid));
    if (!process) {
        cj_thread *t = &r->threads[index];
        t->name = sid;
        t->changed = true;
        t->has_role = false;
        return 0;
    }
    cj_process *proc = &r->processes[index];
    vp_str text = vp_intern_get(&r->names, sid);
    proc->name = sid;
    proc->changed = true;
    proc->names++;
    proc->is_device = vp_str_starts(text, VP_STR("/device:"));
    r->is_xla = r->is_xla || proc->is_device || vp_str_starts(text, VP_STR("/host:"));
    r->has_xla_device = r->has_xla_device || proc->is_device;
    r->has_device = r->has_device || proc->is_device;
    return 0;
}

int cj_tracks_finish(cj_reader *r)
{
    for (size_t i = 0; i < r->process_count; i++) {
        cj_process *p = &r->processes[i];
        if (p->id == SINK_NONE || !p->changed)
            continue;
        sink_process info = describe_process(r, p);
        VP_TRY(r->out->process_update(r->out, p->id, &info));
    }
    for (size_t i = 0; i < r->thread_count; i++) {
        cj_thread *t = &r->threads[i];
        bool placed = cj_process_at(r, t)->is_device;
        for (uint64_t n = placed ? 0 : t->maybe_ops; n; n--)
            cj_note(r, CJ_UNPLACED_OP);
        if (is_echo_only(r, t)) {
            t->has_role = false;
            t->changed = true;
        }
        if (t->track == SINK_NONE || !(t->changed || cj_process_at(r, t)->changed))
            continue;
        sink_track info = describe_track(r, t);
        VP_TRY(r->out->track_update(r->out, t->track, &info));
    }
    return cj_devices_finish(r);
}
