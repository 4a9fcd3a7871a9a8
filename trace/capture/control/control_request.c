#include "trace/capture/control/control_request.h"

#include <string.h>

#include "trace/base/err.h"

#define STEPS_MAX 1000000000
#define MS_MAX 3600000
#define SECONDS_MAX 86400
#define NS_PER_S UINT64_C(1000000000)

static bool read_number(uint64_t *out, vp_str text, uint64_t max)
{
    uint64_t v;
    if (!vp_str_to_u64(text, &v) || v > max)
        return false;
    *out = v;
    return true;
}

/* Parses digits, and up to nine after a decimal point: no sign, no exponent, independent of the
 * locale. */
static bool read_seconds(uint64_t *out_ns, vp_str text)
{
    uint64_t whole, part = 0;
    if (!vp_take_uint(&text, SECONDS_MAX, &whole))
        return false;
    if (text.n) {
        vp_str digits = vp_str_skip(text, 1);
        if (text.p[0] != '.' || digits.n > 9 || !read_number(&part, digits, NS_PER_S - 1))
            return false;
        for (size_t n = digits.n; n < 9; n++)
            part *= 10;
    }
    if (whole == SECONDS_MAX && part)
        return false;
    *out_ns = whole * NS_PER_S + part;
    return true;
}

static int request_take_value(control_request *r, vp_str word)
{
    vp_str key;
    uint64_t gpu;
    if (!memchr(word.p, '=', word.n) || !vp_take_until(&word, '=', word.n, &key))
        return vp_fail(VP_EARG, "%.*s: expected KEY=NUMBER", VP_STR_CUT(word, 60u));
    if (vp_str_eq(key, VP_STR("steps")))
        return read_number(&r->steps, word, STEPS_MAX) && r->steps
                   ? 0
                   : vp_fail(VP_EARG, "steps must be a number from 1 to %d", STEPS_MAX);
    if (vp_str_eq(key, VP_STR("ms")))
        return read_number(&r->ms, word, MS_MAX) && r->ms
                   ? 0
                   : vp_fail(VP_EARG, "ms must be a number from 1 to %d", MS_MAX);
    if (vp_str_eq(key, VP_STR("seconds")))
        return read_seconds(&r->past_ns, word)
                   ? 0
                   : vp_fail(VP_EARG, "seconds must be a number up to %d, such as 0.5",
                             SECONDS_MAX);
    if (!vp_str_eq(key, VP_STR("gpu")))
        return vp_fail(VP_EARG, "%.*s: unknown key", VP_STR_CUT(key, 60u));
    if (!read_number(&gpu, word, 1))
        return vp_fail(VP_EARG, "gpu must be 0 or 1");
    r->has_gpu = true;
    r->gpu = gpu ? VP_GPU_REQUIRE : VP_GPU_OFF;
    return 0;
}

int control_read_request(control_request *out, vp_str line)
{
    control_request r = {.gpu = VP_GPU_OFF};
    vp_str word;
    vp_take_until(&line, ' ', line.n, &r.command);
    while (line.n) {
        vp_take_until(&line, ' ', line.n, &word);
        if (word.n)
            VP_TRY(request_take_value(&r, word));
    }
    *out = r;
    return 0;
}
