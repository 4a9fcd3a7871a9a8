#include "server/cli/language/duration.h"

#include <string.h>

#include "server/cli/language/exit_codes.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"

bool cli_take_time(vp_str text, int64_t *ns)
{
    static const struct {
        const char *unit;
        int64_t ps;
    } units[] = {{"ns", 1000},
                 {"us", INT64_C(1000000)},
                 {"ms", INT64_C(1000000000)},
                 {"s", INT64_C(1000000000000)},
                 {"m", INT64_C(60000000000000)}};
    int64_t unit = 1000;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!vp_str_ends(text, vp_str_of(units[i].unit)))
            continue;
        unit = units[i].ps;
        text = vp_str_head(text, text.n - strlen(units[i].unit));
        break;
    }
    uint64_t whole, part = 0;
    size_t digits = 0;
    if (!vp_take_uint(&text, VP_TIME_MAX_PS / 1000, &whole))
        return false;
    if (vp_str_starts(text, VP_STR("."))) {
        text = vp_str_skip(text, 1);
        digits = text.n;
        if (digits > 15 || !vp_take_uint(&text, UINT64_MAX, &part))
            return false;
    }
    __int128 ps = (__int128)part * unit;
    for (; digits; digits--)
        ps /= 10;
    ps += (__int128)whole * unit;
    *ns = (int64_t)(ps / 1000);
    return !text.n && ps <= (__int128)VP_TIME_MAX_PS;
}

int cli_take_window(const char *text, int64_t *from_ns, int64_t *until_ns)
{
    const char *dots = strstr(text, "..");
    vp_str from = vp_str_head(vp_str_of(text), dots ? (size_t)(dots - text) : 0);
    if (dots && cli_take_time(from, from_ns) && cli_take_time(vp_str_of(dots + 2), until_ns) &&
        *until_ns > *from_ns)
        return 0;
    return vp_fail(
        VP_EARG, "--window %s: must be START..END with END after START, such as 1.5s..1.7s", text);
}

int cli_duration_ms(const char *option, const char *text, int64_t least, int64_t most, int64_t *ms)
{
    vp_str s = vp_str_of(text);
    int64_t ns;
    uint64_t bare;
    bool fine = vp_str_to_u64(s, &bare) && bare <= (uint64_t)most;
    if (fine)
        *ms = (int64_t)bare;
    else if (vp_str_ends(s, VP_STR("h")) && vp_str_to_u64(vp_str_head(s, s.n - 1), &bare) &&
             bare <= (uint64_t)most / 3600000)
        fine = (*ms = (int64_t)bare * 3600000) >= 0;
    else if (cli_take_time(s, &ns))
        fine = (*ms = ns / 1000000) >= 0;
    if (fine && *ms >= least && *ms <= most)
        return 0;
    vp_log(VP_LOG_ERROR,
           "--%s %.60s: must be a time from %lld ms to %lld s, such as 2s, 500ms or 1m (default "
           "unit: ms)",
           option, text, (long long)least, (long long)(most / 1000));
    return CLI_USAGE;
}
