#include "trace/capture/threads/step_marks.h"

#include <string.h>

#include "trace/base/time.h"
#include "trace/capture/threads/own_time.h"
#include "trace/capture/threads/recording_thread.h"

static step_mark *find_step_mark(step_marks *m, uint64_t number)
{
    unsigned i = m->n;
    while (i && m->v[i - 1].number != number)
        i--;
    return i ? &m->v[i - 1] : NULL;
}

static void take_out(step_marks *m, step_mark *at)
{
    m->n--;
    memmove(at, at + 1, (size_t)(m->v + m->n - at) * sizeof *at);
}

void step_mark_begin(uint64_t number)
{
    cap_own *own = cap_own_now();
    step_mark *same = own ? find_step_mark(&own->marks, number) : NULL;
    if (same) {
        same->inside++;
    } else if (own) {
        if (own->marks.n == STEP_MARKS)
            take_out(&own->marks, own->marks.v);
        own->marks.v[own->marks.n++] = (step_mark){number, vp_now_ns(), own_time_ns(), 0};
    }
}

bool step_mark_end(uint64_t number, int64_t *begin_ns, uint64_t *ns)
{
    cap_own *own = cap_own_now();
    step_mark *at = own ? find_step_mark(&own->marks, number) : NULL;
    if (!at || at->inside) {
        if (at)
            at->inside--;
        return false;
    }
    int64_t took = vp_now_ns() - at->ns - (own_time_ns() - at->own_ns);
    *begin_ns = at->ns;
    *ns = took > 0 ? (uint64_t)took : 0;
    take_out(&own->marks, at);
    return true;
}
