#include "server/cli/serve/serve_perfetto.h"

#include <stdio.h>
#include <string.h>

#include "server/cli/language/exit_codes.h"
#include "server/cli/serve/find_perfetto.h"
#include "server/net/http.h"
#include "server/routes/handoff/ui_build.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/str.h"

/* A DNS name of 253 characters, or an address of IPv6 in brackets. */
#define HOST_MAX 256u

static bool is_char_of_set(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of [ADDRESS] or of a host name; 0: neither. */
static size_t host_length(vp_str s)
{
    size_t n = 0;
    bool v6 = vp_str_starts(s, VP_STR("["));
    if (v6) {
        for (n = 1; n < s.n && (is_letter_or_digit(s.p[n]) || is_char_of_set(s.p[n], ":.%")); n++)
            ;
        return n > 1 && n < s.n && s.p[n] == ']' ? n + 1 : 0;
    }
    while (n < s.n && (is_letter_or_digit(s.p[n]) || is_char_of_set(s.p[n], "-._")))
        n++;
    return n;
}

/* Skips ":PORT", if any; false: invalid. */
static bool take_port(vp_str *s)
{
    uint64_t port;
    if (!vp_str_starts(*s, VP_STR(":")))
        return true;
    vp_str digits = vp_str_skip(*s, 1);
    digits = vp_str_head(digits, vp_str_find(digits, VP_STR("/")));
    *s = vp_str_skip(*s, 1 + digits.n);
    return vp_str_to_u64(digits, &port) && port && port <= UINT16_MAX;
}

static bool is_url_path(vp_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || is_char_of_set(s.p[i], "\"'<>\\^`{|}#?"))
            return false;
    return !s.n || *s.p == '/';
}

/* http[s]://HOST[:PORT][/PATH]; *host: without brackets. */
static bool is_web_address(vp_str s, char host[HOST_MAX])
{
    if (vp_str_starts(s, VP_STR("https://")))
        s = vp_str_skip(s, 8);
    else if (vp_str_starts(s, VP_STR("http://")))
        s = vp_str_skip(s, 7);
    else
        return false;
    size_t n = host_length(s);
    if (!n || n >= HOST_MAX)
        return false;
    bool v6 = s.p[0] == '[';
    snprintf(host, HOST_MAX, "%.*s", (int)(v6 ? n - 2 : n), v6 ? s.p + 1 : s.p);
    s = vp_str_skip(s, n);
    return take_port(&s) && is_url_path(s);
}

/* --perfetto-ui URL. */
static int take_perfetto_address(site_options *to, const cli_options *o)
{
    char host[HOST_MAX];
    if (!is_web_address(vp_str_of(o->perfetto_ui), host)) {
        vp_log(VP_LOG_ERROR,
               "--perfetto-ui %.300s: must be a directory or http[s]://HOST[:PORT][/PATH]",
               o->perfetto_ui);
        return CLI_USAGE;
    }
    if (o->offline && !http_names_loopback(host)) {
        vp_log(VP_LOG_ERROR, "--perfetto-ui %.300s: not on this machine, which --offline requires",
               o->perfetto_ui);
        return CLI_USAGE;
    }
    to->perfetto_ui = o->perfetto_ui;
    return CLI_OK;
}

/* --perfetto-ui DIR: only this one. */
static int take_directory(site_options *to, char dir[VP_PATH_MAX], const cli_options *o)
{
    VP_CLEANUP(ui_build_close) ui_build *b = NULL;
    if (o->listen) {
        vp_log(VP_LOG_ERROR, "--perfetto-ui DIR needs a port and cannot be combined with --listen");
        return CLI_USAGE;
    }
    if (strlen(o->perfetto_ui) >= VP_PATH_MAX || ui_build_open(&b, o->perfetto_ui) < 0) {
        vp_log(VP_LOG_ERROR, "--perfetto-ui %.300s: %s", o->perfetto_ui, vp_error_last()->message);
        return CLI_USAGE;
    }
    snprintf(dir, VP_PATH_MAX, "%s", o->perfetto_ui);
    to->perfetto_dir = dir;
    to->perfetto_ui = NULL;
    return CLI_OK;
}

int serve_perfetto(site_options *to, char dir[VP_PATH_MAX], const cli_options *o)
{
    if (o->perfetto_ui && !strstr(o->perfetto_ui, "://"))
        return take_directory(to, dir, o);
    if (o->perfetto_ui)
        return take_perfetto_address(to, o);
    if (o->offline)
        to->perfetto_ui = NULL;
    if (!o->listen && cli_find_perfetto(dir) == 0)
        to->perfetto_dir = dir;
    else if (o->offline)
        vp_log(VP_LOG_WARN, "no Perfetto UI to serve; %s", CLI_PERFETTO_ADVICE);
    return CLI_OK;
}
