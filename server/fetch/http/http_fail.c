#include "server/fetch/http/http_fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/base/err.h"
#include "trace/base/log.h"

/* Maximum clock difference of signatures; some stores accept only 5 minutes. */
#define SKEW_S 240

bool http_find(const http_call *c, const char *name, vp_str *out)
{
    vp_str s = vp_str_head(vp_buf_view(&c->answer), HTTP_SAID_MAX);
    char tag[64];
    snprintf(tag, sizeof tag, "<%s>", name);
    size_t at = vp_str_find(s, vp_str_of(tag));
    bool is_xml = at < s.n;
    if (!is_xml) {
        snprintf(tag, sizeof tag, "\"%s\"", name);
        at = vp_str_find(s, vp_str_of(tag));
    }
    s = vp_str_trim(vp_str_skip(s, at + strlen(tag)));
    if (is_xml)
        return vp_take_until(&s, '<', 8192, out);
    if (!s.n || s.p[0] != ':')
        return false;
    s = vp_str_trim(vp_str_skip(s, 1));
    return s.n && s.p[0] == '"' && (s = vp_str_skip(s, 1), vp_take_until(&s, '"', 8192, out));
}

void http_said(const http_call *c, const char *name, char *out, size_t cap)
{
    vp_str value;
    out[0] = '\0';
    if (!http_find(c, name, &value))
        return;
    value.n =
        vp_str_find(value, VP_STR("\n")); /* Azure's message has more lines, for its support */
    value = vp_str_head(value, 400);
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 4096);
    vp_put_escaped(&b, vp_str_trim(value));
    snprintf(out, cap, "%s", vp_buf_cstr(&b));
}

static int fail_skew(const http_call *c, const char *code)
{
    int64_t by = c->server_s ? (int64_t)time(NULL) - c->server_s : 0;
    bool told = strcmp(code, "RequestTimeTooSkewed") == 0;
    if (!told && (by < 0 ? -by : by) < SKEW_S)
        return 0;
    if (by == 0)
        return vp_fail(VP_EREFUSED, "the server rejects the time of this machine; set its clock");
    return vp_fail(VP_EREFUSED, "the clock of this machine is %lld minutes %s the server's; set it",
                   (long long)((by < 0 ? -by : by) + 30) / 60, by < 0 ? "behind" : "ahead of");
}

/* Error codes of clouds that are more specific than the status. */
static const struct {
    const char *code, *says;
    int rc;
} known[] = {
    {"ExpiredToken", "the credentials have expired: sign in again", VP_EREFUSED},
    {"ExpiredTokenException", "the credentials have expired: sign in again", VP_EREFUSED},
    {"invalid_grant", "the credentials have expired or were revoked: sign in again", VP_EREFUSED},
    {"InvalidAccessKeyId", "unknown access key", VP_EREFUSED},
    {"SignatureDoesNotMatch", "the secret key does not match the access key", VP_EREFUSED},
    {"NoSuchBucket", "bucket not found", VP_ENOTFOUND},
    {"ContainerNotFound", "container not found", VP_ENOTFOUND},
};

static int fail_known(const char *code)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].code, code) == 0)
            return vp_fail(known[i].rc, "%s (%s)", known[i].says, code);
    return 0;
}

static int fail_refused(http_call *c, const char *message)
{
    if (strstr(message, "expired"))
        return vp_fail(VP_EREFUSED, "the credentials have expired: %s", message);
    if (c->status == 401)
        return vp_fail(VP_EREFUSED, "authentication required%s (HTTP 401%s%s)",
                       c->authorize || c->user ? "; these credentials are not accepted" : "",
                       message[0] ? ": " : "", message);
    return vp_fail(VP_EREFUSED, "permission denied (HTTP %ld%s%s)", c->status,
                   message[0] ? ": " : "", message);
}

static int http_fail_status(http_call *c, const char *message)
{
    const char *colon = message[0] ? ": " : "";
    switch (c->status) {
    case 401:
    case 403:
        return fail_refused(c, message);
    case 404:
    case 410:
        return vp_fail(VP_ENOTFOUND, "not found (HTTP %ld)", c->status);
    case 412:
        return vp_fail(VP_EIO, "changed while being read");
    case 429:
    case 503:
        return vp_fail(VP_EREMOTE, "the server is overloaded (HTTP %ld%s%s); try again later",
                       c->status, colon, message);
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
        return vp_fail(VP_EREMOTE, "unexpected redirect (HTTP %ld%s%s)", c->status, colon, message);
    default:
        return vp_fail(VP_EREMOTE, "server error (HTTP %ld%s%s)", c->status, colon, message);
    }
}

int http_failure(http_call *c)
{
    char code[80], message[240];
    int rc = 0;
    http_said(c, "Code", code, sizeof code);
    if (!code[0])
        http_said(c, "error", code, sizeof code);
    http_said(c, "Message", message, sizeof message);
    if (!message[0])
        http_said(c, "message", message, sizeof message);
    if (!message[0])
        http_said(c, "error_description", message, sizeof message);
    if (c->ask)
        c->ask->status = c->status;
    if (c->status == 400 || c->status == 401 || c->status == 403)
        rc = fail_skew(c, code);
    if (rc == 0)
        rc = fail_known(code);
    return rc ? rc : http_fail_status(c, message);
}
