#include "server/fetch/credentials/gcs_credentials.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/fetch/credentials/oauth_token.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/ini_file.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define TOKEN_URI "https://oauth2.googleapis.com/token"
#define SCOPE "https://www.googleapis.com/auth/devstorage.read_write"
#define MISSING                                                                                    \
    "no Google credentials: run `gcloud auth application-default login`, set "                     \
    "GOOGLE_APPLICATION_CREDENTIALS, or use --no-sign-request for a public bucket"

static const char *credential_text(const json_t *file, const char *name)
{
    const char *text = json_string_value(json_object_get(file, name));
    return text ? text : "";
}

/* ---- A service account ----------------------------------------------------------------------- */

static int append_json_text(const char *text, size_t n, void *b)
{
    return vp_buf_put(b, text, n);
}

static int put_jwt_part(vp_buf *b, json_t *part)
{
    VP_CLEANUP(vp_buf_free) vp_buf text;
    vp_buf_init(&text, 64u << 10);
    int rc = part ? json_dump_callback(part, append_json_text, &text, JSON_COMPACT) : -1;
    json_decref(part);
    return rc < 0
               ? vp_fail(VP_EREFUSED, "the Google credentials file is not a service account file")
               : digest_put_base64(b, vp_buf_view(&text), true);
}

/* RFC 7523: an assertion of our identity, signed with the account's key. */
static int put_assertion(vp_buf *b, const json_t *file, const char *token_uri)
{
    json_int_t now = (json_int_t)time(NULL);
    vp_buf signature;
    vp_buf_init(&signature, 8192);
    int rc = put_jwt_part(b, json_pack("{s:s,s:s,s:s}", "alg", "RS256", "typ", "JWT", "kid",
                                       credential_text(file, "private_key_id")));
    vp_buf_putc(b, '.');
    if (rc == 0)
        rc = put_jwt_part(b, json_pack("{s:s,s:s,s:s,s:I,s:I}", "iss",
                                       credential_text(file, "client_email"), "scope", SCOPE, "aud",
                                       token_uri, "iat", now, "exp", now + 3600));
    if (rc == 0)
        rc = digest_rs256(&signature, vp_str_of(credential_text(file, "private_key")),
                          vp_buf_view(b));
    if (rc == 0) {
        vp_buf_putc(b, '.');
        rc = digest_put_base64(b, vp_buf_view(&signature), true);
    }
    digest_wipe(&signature);
    return rc;
}

static int from_account(fetch_ask *a, const json_t *file, const char *token_uri, oauth_token *out)
{
    vp_buf form, assertion;
    vp_buf_init(&form, 64u << 10);
    vp_buf_init(&assertion, 64u << 10);
    int rc = put_assertion(&assertion, file, token_uri);
    vp_buf_puts(&form,
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=");
    vp_buf_str(&form, vp_buf_view(&assertion));
    if (rc == 0)
        rc = form.status ? form.status : oauth_post(a, token_uri, vp_buf_view(&form), out);
    digest_wipe(&form);
    digest_wipe(&assertion);
    return rc;
}

/* ---- A user ---------------------------------------------------------------------------------- */

static int from_user(fetch_ask *a, const json_t *file, const char *token_uri, oauth_token *out)
{
    static const char *const names[] = {"client_id", "client_secret", "refresh_token"};
    vp_buf form;
    vp_buf_init(&form, 64u << 10);
    vp_buf_puts(&form, "grant_type=refresh_token");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vp_buf_printf(&form, "&%s=", names[i]);
        url_encode(&form, vp_str_of(credential_text(file, names[i])), false);
    }
    int rc = form.status ? form.status : oauth_post(a, token_uri, vp_buf_view(&form), out);
    digest_wipe(&form);
    return rc;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool own_path(char *out)
{
    const char *directory = ini_env("CLOUDSDK_CONFIG");
    if (directory && !ini_env("GOOGLE_APPLICATION_CREDENTIALS"))
        return snprintf(out, VP_PATH_MAX, "%s/application_default_credentials.json", directory) <
               (int)VP_PATH_MAX;
    return ini_path("GOOGLE_APPLICATION_CREDENTIALS",
                    ".config/gcloud/application_default_credentials.json", out, VP_PATH_MAX);
}

/* VP_ENOTFOUND: no such file. */
static int read_credentials_file(json_t **out)
{
    char path[VP_PATH_MAX];
    vp_buf text;
    vp_buf_init(&text, 2u << 20);
    int rc = own_path(path) ? ini_read(path, &text) : VP_ENOTFOUND;
    if (rc == 0) {
        *out = json_loadb(text.n ? text.p : "", text.n, 0, NULL);
        rc = *out ? 0 : vp_fail(VP_EREFUSED, "the Google credentials file is not valid JSON");
    } else if (ini_env("GOOGLE_APPLICATION_CREDENTIALS")) {
        rc = vp_fail(VP_EREFUSED, "cannot read GOOGLE_APPLICATION_CREDENTIALS");
    }
    digest_wipe(&text);
    return rc;
}

static int token_from_file(fetch_ask *a, const json_t *file, oauth_token *out)
{
    const char *type = credential_text(file, "type"), *uri = credential_text(file, "token_uri");
    uri = uri[0] ? uri : TOKEN_URI;
    if (strcmp(type, "service_account") == 0)
        return from_account(a, file, uri, out);
    if (strcmp(type, "authorized_user") == 0)
        return from_user(a, file, uri, out);
    return vp_fail(VP_EREFUSED, "unsupported type of Google credentials: set "
                                "CLOUDSDK_AUTH_ACCESS_TOKEN=$(gcloud auth print-access-token)");
}

/* ---- The metadata service -------------------------------------------------------------------- */

static int from_metadata(fetch_ask *a, oauth_token *out)
{
    char url[512];
    const char *host = ini_env("GCE_METADATA_HOST");
    http_call c;
    snprintf(url, sizeof url,
             "http://%.200s/computeMetadata/v1/instance/service-accounts/default/token",
             host ? host : "metadata.google.internal");
    int rc = http_begin(&c, a, "GET", vp_str_of(url));
    c.flags = HTTP_DIRECT | HTTP_ONCE;
    if (rc == 0)
        rc = http_put_header(&c, "Metadata-Flavor: Google");
    if (rc == 0)
        rc = http_perform(&c);
    rc = rc == 0 && c.status == 200 ? oauth_take(&c, out)
         : rc == VP_ECANCELLED      ? rc
                                    : vp_fail(VP_EREFUSED, "%s", MISSING);
    http_end(&c);
    return rc;
}

static int gcs_find_token(fetch_ask *a, oauth_token *out)
{
    const char *given = ini_env("CLOUDSDK_AUTH_ACCESS_TOKEN");
    json_t *file = NULL;
    if (given && strlen(given) < sizeof out->text) {
        memcpy(out->text, given, strlen(given) + 1);
        return 0;
    }
    int rc = read_credentials_file(&file);
    if (rc == 0)
        rc = token_from_file(a, file, out);
    else if (rc == VP_ENOTFOUND)
        rc = from_metadata(a, out);
    json_decref(file);
    return rc;
}

int gcs_authorize(void *ask, http_call *c)
{
    static oauth_kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return oauth_authorize(&kept, gcs_find_token, ask, c);
}

const char *gcs_credentials_source(void)
{
    json_t *file = NULL;
    if (ini_env("CLOUDSDK_AUTH_ACCESS_TOKEN"))
        return "a token in the environment";
    const char *from = NULL;
    if (read_credentials_file(&file) == 0)
        from = strcmp(credential_text(file, "type"), "service_account") == 0
                   ? "a service account's file"
                   : "a user's file";
    json_decref(file);
    return from;
}
