/* Handles FETCH_LOOK: reads the state of a process through Monitor, which most builds of XLA do not
 * have; else checks whether ProfilerService exists. */
#include <curl/curl.h>
#include <math.h>
#include <string.h>

#include "server/fetch/grpc/grpc_call.h"
#include "server/fetch/question/fetch_answer.h"
#include "trace/base/err.h"
#include "trace/base/pb.h"

#define LOOK_MS 10000L
/* How long Monitor samples the devices. */
#define SAMPLE_MS 1000
#define ANSWER_MAX (64u << 10)
#define FRAME 5u

static int append_answer_bytes(void *ctx, const void *data, size_t n)
{
    return vp_buf_put(ctx, data, n);
}

/* Performs one call; its message, without the frame, is in `answer`. */
static int call_grpc_method(fetch_ask *a, const char *method, vp_str message, vp_buf *answer)
{
    grpc_call c;
    int rc = grpc_call_open(&c, a->url, method, message, LOOK_MS, append_answer_bytes, answer);
    if (rc >= 0) {
        (void)curl_easy_setopt(c.easy, CURLOPT_TIMEOUT_MS, LOOK_MS);
        CURLcode code = curl_easy_perform(c.easy);
        a->status = grpc_call_status(&c, code);
        rc = grpc_call_verdict(&c, code);
    }
    grpc_call_close(&c);
    return rc;
}

/* ---- What Monitor says ----------------------------------------------------------------------- */

/* Writes its figures by field; missing ones are left out. */
static const struct {
    uint32_t field;
    const char *format;
} figures[] = {
    {4, "step %.1f ms on average"},  {5, "%.1f ms at least"},
    {6, "%.1f ms at most"},          {2, "devices idle %.1f%%"},
    {3, "matrix units busy %.1f%%"}, {7, "infeed %.1f%% on average"},
};

static void put_monitor_figures(vp_buf *b, vp_str result)
{
    vp_pb p = vp_pb_of(result);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1)
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
            double v;
            memcpy(&v, &f.u, sizeof v);
            if (f.wire != VP_PB_FIXED64 || f.number != figures[i].field || !isfinite(v))
                continue;
            vp_buf_puts(b, b->n ? ", " : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            vp_buf_printf(b, figures[i].format, v);
#pragma GCC diagnostic pop
        }
}

/* The figures, else the message of the service on one line. */
static int put_monitor(vp_buf *b, vp_str answer)
{
    vp_pb p = vp_pb_of(vp_str_skip(answer, FRAME));
    vp_pb_field f;
    vp_str data = VP_STR_NONE;
    while (vp_pb_next(&p, &f) == 1)
        if (f.number == 10)
            put_monitor_figures(b, f.data);
        else if (f.number == 1)
            data = f.data;
    bool told = b->n > 0;
    for (size_t i = 0; !told && i < data.n; i++)
        vp_buf_putc(b, data.p[i] == '\n' ? ' ' : data.p[i]);
    return b->n ? b->status : vp_buf_puts(b, "a profiler answers, without figures");
}

static int call_monitor(fetch_ask *a, vp_buf *text)
{
    VP_CLEANUP(vp_buf_free) vp_buf request, answer;
    vp_buf_init(&request, ANSWER_MAX);
    vp_buf_init(&answer, ANSWER_MAX);
    vp_pb_put_u64(&request, 1, SAMPLE_MS);
    vp_pb_put_u64(&request, 2, 2);
    VP_TRY(call_grpc_method(a, "Monitor", vp_buf_view(&request), &answer));
    return put_monitor(text, vp_buf_view(&answer));
}

/* Terminating a session that does not exist is supported by every ProfilerService. */
static int is_profiler_service_there(fetch_ask *a)
{
    VP_CLEANUP(vp_buf_free) vp_buf request, answer;
    vp_buf_init(&request, ANSWER_MAX);
    vp_buf_init(&answer, ANSWER_MAX);
    vp_pb_put_len(&request, 1, VP_STR("view_profile look"));
    return call_grpc_method(a, "Terminate", vp_buf_view(&request), &answer);
}

int fetch_answer_look(fetch_ask *a)
{
    VP_CLEANUP(vp_buf_free) vp_buf text, b;
    vp_buf_init(&text, ANSWER_MAX);
    vp_buf_init(&b, 2 * ANSWER_MAX);
    int rc = call_monitor(a, &text);
    if (rc == VP_EUNSUPPORTED && a->status == GRPC_UNIMPLEMENTED &&
        is_profiler_service_there(a) >= 0)
        rc = vp_buf_puts(&text, "a profiler answers and can capture; status figures are not "
                                "available (open-source XLA has no Monitor)");
    VP_TRY(rc);
    a->status = 0;
    vp_pb_put_len(&b, FETCH_LOOK_TEXT, vp_buf_view(&text));
    return b.status < 0 ? b.status : fetch_put(a->stream, FETCH_INFO, vp_buf_view(&b));
}
