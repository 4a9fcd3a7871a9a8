#include "server/fetch/credentials/oauth_token.h"

#include <jansson.h>
#include <openssl/crypto.h>
#include <string.h>
#include <time.h>

#include "server/fetch/http/http_fail.h"
#include "trace/base/err.h"

/* Tokens are refreshed this long before they expire. */
#define AHEAD_S 120

int oauth_authorize(oauth_kept *kept, int (*find)(fetch_ask *a, oauth_token *out), fetch_ask *a,
                    http_call *c)
{
    pthread_mutex_lock(&kept->lock);
    oauth_token *t = &kept->token;
    int rc = 0;
    if (!t->text[0] || (t->until_s && t->until_s - AHEAD_S < (int64_t)time(NULL))) {
        OPENSSL_cleanse(t, sizeof *t);
        rc = find(a, t);
        if (rc < 0)
            OPENSSL_cleanse(t, sizeof *t);
    }
    if (rc == 0)
        rc = http_sign(c, "Authorization: Bearer %s", t->text);
    pthread_mutex_unlock(&kept->lock);
    return rc;
}

/* Seconds, which some services write as a string. */
static int64_t answer_seconds(const json_t *answer, const char *name)
{
    const json_t *v = json_object_get(answer, name);
    int64_t s = json_integer_value(v);
    if (json_is_string(v) && !vp_str_to_i64(vp_str_of(json_string_value(v)), &s))
        s = 0;
    return s > 0 && s < (int64_t)9e9 ? s : 0;
}

int oauth_take(const http_call *c, oauth_token *out)
{
    json_t *answer = json_loadb(c->answer.n ? c->answer.p : "", c->answer.n, 0, NULL);
    const char *text = json_string_value(json_object_get(answer, "access_token"));
    size_t n = text ? strlen(text) : 0;
    int rc = n && n < sizeof out->text
                 ? 0
                 : vp_fail(VP_EREMOTE, "the token server returned an invalid token");
    if (rc == 0) {
        memcpy(out->text, text, n + 1);
        int64_t in = answer_seconds(answer, "expires_in");
        out->until_s = in ? (int64_t)time(NULL) + in : answer_seconds(answer, "expires_on");
    }
    json_decref(answer);
    return rc;
}

int oauth_post(fetch_ask *a, const char *url, vp_str form, oauth_token *out)
{
    http_call c;
    int rc = http_begin(&c, a, "POST", vp_str_of(url));
    c.body = form;
    if (rc == 0)
        rc = http_put_header(&c, "Content-Type: application/x-www-form-urlencoded");
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc == 0)
        rc = oauth_take(&c, out);
    http_end(&c);
    return rc;
}
