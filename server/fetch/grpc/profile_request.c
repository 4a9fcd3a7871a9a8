#include "server/fetch/grpc/profile_request.h"

#include "trace/base/err.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_wire.h"

/* Maximum number of entries of each kind that old servers keep, as XLA's clients send it; new
 * servers ignore it. */
#define MAX_EVENTS 1000000
#define DEFAULT_PATIENCE_MS 60000
/* Some advanced keys and values are long; all are from the user. */
#define MESSAGE_MAX (64u << 10)

int profile_request_read(profile_request *r, vp_str body)
{
    vp_pb p = vp_pb_of(body);
    vp_pb_field f;
    int rc;
    *r = (profile_request){
        .host_tracer = 2, .device_tracer = 1, .patience_ms = DEFAULT_PATIENCE_MS, .body = body};
    struct {
        uint32_t number;
        vp_str *text;
        uint64_t *value;
    } fields[] = {
        {FETCH_CAPTURE_SESSION, &r->session, NULL},
        {FETCH_CAPTURE_ROOT, &r->root, NULL},
        {FETCH_CAPTURE_HOST, &r->host, NULL},
        {FETCH_CAPTURE_DURATION_MS, NULL, &r->duration_ms},
        {FETCH_CAPTURE_START_NS, NULL, &r->start_ns},
        {FETCH_CAPTURE_HOST_TRACER, NULL, &r->host_tracer},
        {FETCH_CAPTURE_DEVICE_TRACER, NULL, &r->device_tracer},
        {FETCH_CAPTURE_PYTHON_TRACER, NULL, &r->python_tracer},
        {FETCH_CAPTURE_PATIENCE_MS, NULL, &r->patience_ms},
        {FETCH_CAPTURE_WAITS, NULL, &r->waits},
    };
    while ((rc = vp_pb_next(&p, &f)) == 1)
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (fields[i].number != f.number)
                continue;
            else if (fields[i].text)
                *fields[i].text = f.data;
            else
                *fields[i].value = f.u;
    if (rc < 0 || !r->duration_ms || r->duration_ms > INT32_MAX || r->patience_ms > INT32_MAX)
        return vp_fail(VP_EARG, "invalid capture request");
    return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_pb_number(vp_buf *b, uint32_t field, uint64_t v)
{
    if (v) /* proto3: zero equals missing */
        vp_pb_put_u64(b, field, v);
}

static void put_pb_text(vp_buf *b, uint32_t field, vp_str s)
{
    if (s.n)
        vp_pb_put_len(b, field, s);
}

/* Fields of ProfileOptions that are requested by name, like advanced keys. */
static const struct {
    const char *key;
    uint32_t field;
} plain[] = {{"include_dataset_ops", 1},
             {"device_type", 6},
             {"enable_hlo_proto", 7},
             {"raise_error_on_start_failure", 13}};

static uint32_t plain_field(vp_str key)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (vp_str_eq(key, vp_str_of(plain[i].key)))
            return plain[i].field;
    return 0;
}

/* true, false, a number, or else a string: the rules of XLA's clients. */
static void put_config_value(vp_buf *b, vp_str value)
{
    int64_t n;
    bool yes = vp_str_eq(value, VP_STR("true"));
    if (yes || vp_str_eq(value, VP_STR("false")))
        vp_pb_put_u64(b, 2, yes);
    else if (vp_str_to_i64(value, &n))
        vp_pb_put_u64(b, 3, (uint64_t)n);
    else
        vp_pb_put_len(b, 1, value);
}

static int plain_value(vp_str value, uint64_t *out)
{
    bool yes = vp_str_eq(value, VP_STR("true"));
    if (yes || vp_str_eq(value, VP_STR("false"))) {
        *out = yes;
        return 0;
    }
    return vp_str_to_u64(value, out)
               ? 0
               : vp_fail(VP_EARG, "--option: \"%.*s\" must be true, false or a number",
                         VP_STR_CUT(value, 60));
}

/* An entry of the map advanced_configuration. */
static void put_config_entry(vp_buf *b, vp_str key, vp_str value)
{
    VP_CLEANUP(vp_buf_free) vp_buf entry, v;
    vp_buf_init(&entry, MESSAGE_MAX);
    vp_buf_init(&v, MESSAGE_MAX);
    put_config_value(&v, value);
    vp_pb_put_len(&entry, 1, key);
    vp_pb_put_len(&entry, 2, vp_buf_view(&v));
    vp_pb_put_len(b, 12, vp_buf_view(&entry));
}

/* The value of a plain field, or `otherwise`. */
static int put_plain_field(vp_buf *b, const profile_request *r, uint32_t field, uint64_t otherwise)
{
    vp_pb p = vp_pb_of(r->body);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1) {
        vp_str value = f.data, key;
        if (f.number == FETCH_CAPTURE_OPTION && vp_take_until(&value, '=', value.n, &key) &&
            plain_field(key) == field)
            VP_TRY(plain_value(value, &otherwise));
    }
    put_pb_number(b, field, otherwise);
    return 0;
}

static int put_advanced(vp_buf *b, const profile_request *r)
{
    vp_pb p = vp_pb_of(r->body);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1) {
        vp_str value = f.data, key;
        if (f.number != FETCH_CAPTURE_OPTION)
            continue;
        if (!vp_take_until(&value, '=', value.n, &key) || !key.n || key.n == f.data.n)
            return vp_fail(VP_EARG, "--option: \"%.*s\" is not KEY=VALUE", VP_STR_CUT(f.data, 60));
        if (!plain_field(key))
            put_config_entry(b, key, value);
    }
    return 0;
}

static int put_options(vp_buf *b, const profile_request *r)
{
    VP_TRY(put_plain_field(b, r, 1, 1));
    put_pb_number(b, 2, r->host_tracer);
    put_pb_number(b, 3, r->device_tracer);
    put_pb_number(b, 4, r->python_tracer);
    vp_pb_put_u64(b, 5, 1); /* the version, without which a server ignores the rest */
    VP_TRY(put_plain_field(b, r, 6, 0));
    VP_TRY(put_plain_field(b, r, 7, 1));
    put_pb_number(b, 8, r->start_ns);
    put_pb_number(b, 9, r->duration_ms);
    VP_TRY(put_advanced(b, r));
    return put_plain_field(b, r, 13, 0);
}

int profile_request_put(vp_buf *b, const profile_request *r)
{
    VP_CLEANUP(vp_buf_free) vp_buf options;
    vp_buf_init(&options, MESSAGE_MAX);
    VP_TRY(put_options(&options, r));
    put_pb_number(b, 1, r->duration_ms);
    vp_pb_put_u64(b, 2, MAX_EVENTS);
    vp_pb_put_len(b, 3, VP_STR("xplane.pb"));
    vp_pb_put_len(b, 4, vp_buf_view(&options));
    put_pb_text(b, 5, r->root);
    put_pb_text(b, 6, r->session);
    put_pb_text(b, 7, r->host);
    vp_pb_put_u64(b, 9, 1); /* send the XSpace instead of writing it on the remote machine */
    return options.status < 0 ? options.status : b->status;
}
