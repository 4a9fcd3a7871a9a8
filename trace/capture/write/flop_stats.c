#include "trace/capture/write/flop_stats.h"

#include <math.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/capture/disk/small_files.h"

void flop_stats_reset(flop_stats *f)
{
    flop_step *steps = f->steps;
    size_t cap = f->cap;
    *f = (flop_stats){.steps = steps, .cap = cap};
}

void flop_stats_free(flop_stats *f)
{
    vp_free(f->steps);
    *f = (flop_stats){0};
}

void flop_stats_add(flop_stats *f, uint64_t tokens, uint64_t ns)
{
    if (!f->has_cold) {
        f->has_cold = true;
        f->cold = (flop_step){tokens, ns};
        return;
    }
    f->count++;
    f->tokens += tokens;
    f->ns += ns;
    /* listed == count - 1: no earlier step is missing in the list */
    if (f->listed == f->count - 1 &&
        vp_grow(&f->steps, &f->cap, f->listed + 1, sizeof *f->steps, FLOP_STATS_LISTED) >= 0)
        f->steps[f->listed++] = (flop_step){tokens, ns};
}

static double ns_to_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void put_positive_or_null(vp_json *j, const char *key, double v)
{
    vp_json_kdouble(j, key, v > 0 ? v : NAN); /* NAN: null */
}

static void put_step_tokens(vp_json *j, const flop_stats *f)
{
    vp_json_key(j, "per_step_tokens");
    vp_json_begin_array(j);
    for (size_t i = 0; i < f->listed; i++)
        vp_json_u64(j, f->steps[i].tokens);
    vp_json_end_array(j);
    vp_json_key(j, "per_step_times");
    vp_json_begin_array(j);
    for (size_t i = 0; i < f->listed; i++)
        vp_json_double(j, ns_to_seconds(f->steps[i].ns));
    vp_json_end_array(j);
    vp_json_ki64(j, "cold_steps", f->has_cold);
    vp_json_kdouble(j, "cold_step_time", f->has_cold ? ns_to_seconds(f->cold.ns) : NAN);
}

int flop_stats_put(vp_buf *b, const flop_stats *f, const vp_schedule *s)
{
    /* 6 FLOP per parameter and token: 2 in the forward and 4 in the backward pass */
    double flops = s->flops_per_token > 0 ? s->flops_per_token : 6 * s->model_params;
    double rate = f->ns ? (double)f->tokens / ns_to_seconds(f->ns) : 0;
    double tflops = rate * flops / 1e12;
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.flop_stats/1");
    vp_json_ki64(&j, "profiling_steps", (int64_t)f->count);
    vp_json_ki64(&j, "total_tokens", (int64_t)f->tokens);
    vp_json_kdouble(&j, "total_time_sec", ns_to_seconds(f->ns));
    put_positive_or_null(&j, "tokens_per_sec", rate);
    put_positive_or_null(&j, "model_params", s->model_params);
    put_positive_or_null(&j, "flops_per_token", flops);
    put_positive_or_null(&j, "achieved_tflops", tflops);
    put_positive_or_null(&j, "peak_tflops", s->peak_tflops);
    put_positive_or_null(&j, "mfu_percent", s->peak_tflops > 0 ? 100 * tflops / s->peak_tflops : 0);
    put_step_tokens(&j, f);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

int flop_stats_write(const flop_stats *f, const vp_schedule *s, const char *dir)
{
    vp_buf b;
    vp_buf_init(&b, FLOP_STATS_LISTED * 64);
    int rc = flop_stats_put(&b, f, s);
    if (rc >= 0)
        rc = cap_write_file(dir, "flop_stats.json", vp_buf_view(&b));
    vp_buf_free(&b);
    return rc;
}
