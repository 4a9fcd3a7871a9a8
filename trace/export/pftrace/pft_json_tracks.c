/* Writes the tracks of a .pftrace from Trace Event JSON: processes, threads, their siblings, and
 * tracks outside of threads. */
#include "trace/base/err.h"
#include "trace/export/pftrace/pft_json.h"
#include "trace/export/shared/stream_out.h"
#include "trace/read/json/json_text.h"

static vp_str plain_text_of_json(pft_json *x, vp_sid json)
{
    return pft_plain(&x->scratch, jp_unquoted(vp_intern_get(&x->plan.texts, json)));
}

static int32_t rank_of_sort_index(const pft_json *x, vp_sid sort)
{
    int64_t rank;
    if (!sort || !js_about(jp_unquoted(vp_intern_get(&x->plan.texts, sort)), &rank))
        return 0;
    return rank > INT32_MAX ? INT32_MAX : rank < INT32_MIN ? INT32_MIN : (int32_t)rank;
}

static int put_process_track(pft_json *x, size_t process)
{
    const jp_process *p = &x->plan.processes[process];
    VP_CLEANUP(vp_buf_free) vp_buf label;
    vp_buf_init(&label, 4 * (size_t)VP_JSON_EVENT_MAX);
    vp_buf_str(&label, plain_text_of_json(x, p->label));
    VP_TRY(label.status);
    return pft_put_track(&x->writer, &(pft_track){.uuid = pft_json_process(process),
                                                  .name = plain_text_of_json(x, p->named ? p->name
                                                                                : !p->known ? p->raw
                                                                                            : 0),
                                                  .label = vp_buf_view(&label),
                                                  .kind = PFT_PROCESS,
                                                  .pid = p->pid,
                                                  .rank = rank_of_sort_index(x, p->sort)});
}

/* A sibling of a thread's track for events that it cannot hold; number: 0 for none. */
static int put_json_sibling_track(pft_json *x, const jp_thread *t, uint64_t uuid, uint32_t number)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, 4 * (size_t)VP_JSON_EVENT_MAX);
    vp_buf_str(&name, plain_text_of_json(x, t->name ? t->name : t->raw));
    if (number)
        vp_buf_printf(&name, " (%u)", number);
    VP_TRY(name.status);
    return pft_put_track(&x->writer, &(pft_track){.uuid = uuid,
                                                  .parent = pft_json_process(t->process),
                                                  .name = vp_buf_view(&name),
                                                  .kind = PFT_PLAIN,
                                                  .rank = rank_of_sort_index(x, t->sort),
                                                  .apart = number != 0});
}

int pft_json_pool_track(pft_json *x, const jp_thread *t, uint64_t uuid)
{
    return put_json_sibling_track(x, t, uuid, 0);
}

static int put_thread(pft_json *x, size_t thread)
{
    const jp_thread *t = &x->plan.threads[thread];
    vp_str raw = vp_intern_get(&x->plan.texts, t->raw);
    bool is_text = raw.n && *raw.p == '"';
    VP_TRY(pft_put_track(&x->writer, &(pft_track){.uuid = pft_json_lane(x, thread, 0),
                                                  .parent = pft_json_process(t->process),
                                                  .name = plain_text_of_json(x, t->name   ? t->name
                                                                                : is_text ? t->raw
                                                                                          : 0),
                                                  .kind = PFT_THREAD,
                                                  .pid = x->plan.processes[t->process].pid,
                                                  .tid = t->tid,
                                                  .rank = rank_of_sort_index(x, t->sort)}));
    for (uint32_t lane = 1; lane < t->lanes; lane++)
        VP_TRY(put_json_sibling_track(x, t, pft_json_lane(x, thread, lane), lane + 1));
    return 0;
}

static int put_beside(pft_json *x, size_t beside)
{
    const pft_beside *b = &x->besides[beside];
    return pft_put_track(
        &x->writer, &(pft_track){.uuid = pft_json_beside(x, beside),
                                 .parent = b->process == JP_NONE ? 0 : pft_json_process(b->process),
                                 .name = plain_text_of_json(x, b->name),
                                 .kind = b->kind == PFT_BESIDE_COUNTER ? PFT_COUNTER : PFT_PLAIN});
}

static int put_track_row(pft_json *x, size_t row)
{
    if (row < x->process_count)
        return x->plan.processes[row].needed ? put_process_track(x, row) : 0;
    row -= x->process_count;
    if (row < x->thread_count)
        return x->plan.threads[row].needed ? put_thread(x, row) : 0;
    return put_beside(x, row - x->thread_count);
}

int pft_json_tracks(pft_json *x)
{
    size_t rows = x->process_count + x->thread_count + (x->said ? x->beside_count : 0);
    for (; x->row < rows && !ex_out_full(&x->out); x->row++)
        VP_TRY(put_track_row(x, x->row));
    VP_TRY(x->scratch.status);
    return x->row == rows;
}

/* A track without events, which viewers do not show. */
static int put_note_track(pft_json *x, const char *name, vp_str text)
{
    uint64_t uuid = pft_json_beside(x, x->beside_count) + x->pooled++;
    return pft_put_track(&x->writer, &(pft_track){.uuid = uuid,
                                                  .name = vp_str_of(name),
                                                  .description = text,
                                                  .kind = PFT_PLAIN});
}

int pft_json_missing(pft_json *x)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    uint64_t events = x->refused + x->unsaid + x->plan.unpaired, flows = x->plan.unbound + x->lost;
    vp_buf_init(&b, 256);
    vp_buf_printf(&b, "{\"events\":%llu,\"flows\":%llu}", (unsigned long long)events,
                  (unsigned long long)flows);
    if (events || flows)
        VP_TRY(put_note_track(x, "view_profile_missing", vp_buf_view(&b)));
    if (x->plan.pick) {
        x->plan.pick->missing_events = events;
        x->plan.pick->missing_flows = flows;
    }
    if (x->s.damage.code)
        VP_TRY(put_note_track(x, "view_profile_damage", vp_str_of(x->s.damage.message)));
    return 1;
}
