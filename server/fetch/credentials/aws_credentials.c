#include "server/fetch/credentials/aws_credentials.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/ini_file.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

#define METADATA "http://169.254.169.254"
/* Credentials are refreshed this long before they expire. */
#define AHEAD_S 120

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static aws_credentials kept;

void aws_credentials_wipe(aws_credentials *c)
{
    OPENSSL_cleanse(c, sizeof *c);
}

static bool copy_if_fits(char *out, size_t cap, vp_str s)
{
    if (s.n >= cap)
        return false;
    memcpy(out, s.p ? s.p : "", s.n);
    out[s.n] = '\0';
    return true;
}

/* ---- Shared files ---------------------------------------------------------------------------- */

static const char *aws_profile_name(void)
{
    const char *name = ini_env("AWS_PROFILE");
    return name                             ? name
           : ini_env("AWS_DEFAULT_PROFILE") ? ini_env("AWS_DEFAULT_PROFILE")
                                            : "default";
}

/* In the config file a section is called "profile NAME", except "default". */
static void section_of(bool is_config, char *out, size_t cap)
{
    const char *name = aws_profile_name();
    snprintf(out, cap, "%s%s", is_config && strcmp(name, "default") != 0 ? "profile " : "", name);
}

static int read_shared(bool is_config, vp_buf *text)
{
    char path[VP_PATH_MAX];
    bool is_known =
        is_config ? ini_path("AWS_CONFIG_FILE", ".aws/config", path, sizeof path)
                  : ini_path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", path, sizeof path);
    return is_known ? ini_read(path, text) : VP_ENOTFOUND;
}

bool aws_setting(const char *name, char *out, size_t cap)
{
    char section[256];
    vp_buf text;
    vp_str value;
    vp_buf_init(&text, 2u << 20);
    section_of(true, section, sizeof section);
    bool is_there = read_shared(true, &text) == 0 &&
                    ini_find(vp_buf_view(&text), vp_str_of(section), vp_str_of(name), &value) &&
                    copy_if_fits(out, cap, value);
    digest_wipe(&text);
    return is_there;
}

void aws_region(char *out, size_t cap)
{
    const char *own = ini_env("AWS_REGION");
    own = own ? own : ini_env("AWS_DEFAULT_REGION");
    if (own)
        snprintf(out, cap, "%s", own);
    else if (!aws_setting("region", out, cap))
        snprintf(out, cap, "us-east-1");
}

/* Methods of a profile that are not supported, most specific first: they would need another
 * program, or a session cached by the cloud's tool. Each with its display name. */
static const struct {
    const char *setting, *says;
} others[] = {
    {"role_arn", "an assumed role (role_arn)"},
    {"sso_session", "SSO (sso_session)"},
    {"sso_start_url", "SSO (sso_start_url)"},
    {"credential_process", "a program (credential_process)"},
};

/* NULL: none of them. keys: the profile or the environment also has keys, which are then used to
 * assume the role, but take precedence over everything else. */
static const char *other_way(bool keys)
{
    char value[VP_PATH_MAX];
    if (keys && !(aws_setting("role_arn", value, sizeof value) &&
                  (aws_setting("source_profile", value, sizeof value) ||
                   aws_setting("credential_source", value, sizeof value))))
        return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (aws_setting(others[i].setting, value, sizeof value))
            return others[i].says;
    return NULL;
}

static bool aws_from_file(bool is_config, aws_credentials *c)
{
    char section[256];
    vp_buf text;
    vp_str id, secret, token;
    vp_buf_init(&text, 2u << 20);
    section_of(is_config, section, sizeof section);
    bool fine = read_shared(is_config, &text) == 0;
    vp_str all = vp_buf_view(&text), own = vp_str_of(section);
    fine = fine && ini_find(all, own, VP_STR("aws_access_key_id"), &id) &&
           ini_find(all, own, VP_STR("aws_secret_access_key"), &secret) &&
           copy_if_fits(c->id, sizeof c->id, id) &&
           copy_if_fits(c->secret, sizeof c->secret, secret);
    if (fine && ini_find(all, own, VP_STR("aws_session_token"), &token))
        fine = copy_if_fits(c->token, sizeof c->token, token);
    digest_wipe(&text);
    c->from = is_config ? "the shared config file" : "the shared credentials file";
    return fine;
}

static bool from_environment(aws_credentials *c)
{
    const char *id = ini_env("AWS_ACCESS_KEY_ID"), *secret = ini_env("AWS_SECRET_ACCESS_KEY"),
               *token = ini_env("AWS_SESSION_TOKEN");
    c->from = "the environment";
    return id && secret && copy_if_fits(c->id, sizeof c->id, vp_str_of(id)) &&
           copy_if_fits(c->secret, sizeof c->secret, vp_str_of(secret)) &&
           copy_if_fits(c->token, sizeof c->token, vp_str_of(token));
}

/* ---- Services that hand them out ------------------------------------------------------------- */

/* Element or key names in an XML or JSON response. */
static int aws_take_answer(const http_call *call, const char *token, const char *until,
                           aws_credentials *c)
{
    char end[64];
    vp_str said;
    if (!http_find(call, "AccessKeyId", &said) || !copy_if_fits(c->id, sizeof c->id, said) ||
        !http_find(call, "SecretAccessKey", &said) ||
        !copy_if_fits(c->secret, sizeof c->secret, said) || !http_find(call, token, &said) ||
        !copy_if_fits(c->token, sizeof c->token, said))
        return vp_fail(VP_EREMOTE, "%s returned no credentials", c->from);
    http_said(call, until, end, sizeof end);
    c->until_s = xml_time(vp_str_of(end)) / 1000000000;
    return 0;
}

/* STS accepts a token that Kubernetes or a CI system wrote into a file. */
static int ask_sts(fetch_ask *a, http_call *call, vp_str token, aws_credentials *c)
{
    char region[64], url[256];
    const char *role = ini_env("AWS_ROLE_ARN"), *name = ini_env("AWS_ROLE_SESSION_NAME"),
               *endpoint = ini_env("AWS_ENDPOINT_URL_STS");
    vp_buf body;
    aws_region(region, sizeof region);
    snprintf(url, sizeof url, "https://sts.%s.amazonaws.com/", region);
    vp_buf_init(&body, 64u << 10);
    vp_buf_puts(&body, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    url_encode(&body, vp_str_of(role), false);
    vp_buf_puts(&body, "&RoleSessionName=");
    url_encode(&body, name ? vp_str_of(name) : VP_STR("view_profile"), false);
    vp_buf_puts(&body, "&WebIdentityToken=");
    url_encode(&body, vp_str_trim(token), false);
    int rc = body.status ? body.status
                         : http_begin(call, a, "POST", vp_str_of(endpoint ? endpoint : url));
    if (rc == 0) {
        call->body = vp_buf_view(&body);
        rc = http_put_header(call, "Content-Type: application/x-www-form-urlencoded");
    }
    if (rc == 0)
        rc = http_succeed(call);
    if (rc == 0)
        rc = aws_take_answer(call, "SessionToken", "Expiration", c);
    digest_wipe(&body);
    return rc;
}

static int from_web_identity(fetch_ask *a, aws_credentials *c)
{
    vp_buf token;
    http_call call = {0};
    vp_buf_init(&token, 2u << 20);
    c->from = "a web identity";
    int rc = ini_read(ini_env("AWS_WEB_IDENTITY_TOKEN_FILE"), &token);
    if (rc < 0)
        rc = vp_fail(VP_EREFUSED, "cannot read AWS_WEB_IDENTITY_TOKEN_FILE");
    else
        rc = ask_sts(a, &call, (vp_str){token.p, strcspn(vp_buf_cstr(&token), "\r\n")}, c);
    http_end(&call);
    digest_wipe(&token);
    return rc;
}

static int put_container_token(http_call *call)
{
    const char *file = ini_env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
               *plain = ini_env("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    vp_buf text;
    vp_buf_init(&text, 2u << 20);
    int rc = file ? ini_read(file, &text) : plain ? vp_buf_puts(&text, plain) : 0;
    if (rc == 0 && text.n)
        rc = http_put_header(call, "Authorization: %.*s", (int)strcspn(vp_buf_cstr(&text), "\r\n"),
                             vp_buf_cstr(&text));
    digest_wipe(&text);
    return rc;
}

static int from_container(fetch_ask *a, aws_credentials *c)
{
    char url[1024];
    http_call call;
    const char *whole = ini_env("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
               *path = ini_env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    c->from = "the container's endpoint";
    snprintf(url, sizeof url, "%s%s", path ? "http://169.254.170.2" : whole, path ? path : "");
    int rc = http_begin(&call, a, "GET", vp_str_of(url));
    call.flags = HTTP_DIRECT;
    if (rc == 0)
        rc = put_container_token(&call);
    if (rc == 0)
        rc = http_succeed(&call);
    if (rc == 0)
        rc = aws_take_answer(&call, "Token", "Expiration", c);
    http_end(&call);
    return rc;
}

static int ask_metadata(fetch_ask *a, const char *method, const char *path, const char *header,
                        http_call *call)
{
    char url[1024];
    const char *base = ini_env("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    size_t n = base ? strlen(base) : 0;
    while (n && base[n - 1] == '/')
        n--;
    snprintf(url, sizeof url, "%.*s%s", base ? (int)n : (int)strlen(METADATA),
             base ? base : METADATA, path);
    VP_TRY(http_begin(call, a, method, vp_str_of(url)));
    call->flags = HTTP_DIRECT | HTTP_ONCE;
    VP_TRY(http_put_header(call, "%s", header));
    return http_succeed(call);
}

static int ask_role(fetch_ask *a, const char *header, aws_credentials *c)
{
    static const char roles[] = "/latest/meta-data/iam/security-credentials/";
    char path[512] = "";
    http_call role, call = {0};
    int rc = ask_metadata(a, "GET", roles, header, &role);
    if (rc == 0)
        snprintf(path, sizeof path, "%s%.*s", roles,
                 (int)strcspn(vp_buf_cstr(&role.answer), "\r\n"), vp_buf_cstr(&role.answer));
    http_end(&role);
    if (rc == 0)
        rc = ask_metadata(a, "GET", path, header, &call);
    if (rc == 0)
        rc = aws_take_answer(&call, "Token", "Expiration", c);
    http_end(&call);
    return rc;
}

static int from_instance(fetch_ask *a, aws_credentials *c)
{
    char header[512] = "";
    http_call call;
    c->from = "the instance's metadata service";
    int rc = ask_metadata(a, "PUT", "/latest/api/token",
                          "X-aws-ec2-metadata-token-ttl-seconds: 21600", &call);
    if (rc == 0)
        snprintf(header, sizeof header, "X-aws-ec2-metadata-token: %s", vp_buf_cstr(&call.answer));
    http_end(&call);
    if (rc == 0)
        rc = ask_role(a, header, c);
    OPENSSL_cleanse(header, sizeof header);
    return rc;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool may_ask_instance(void)
{
    const char *off = ini_env("AWS_EC2_METADATA_DISABLED");
    return !off || strcasecmp(off, "true") != 0;
}

static bool has_web_identity(void)
{
    return ini_env("AWS_WEB_IDENTITY_TOKEN_FILE") && ini_env("AWS_ROLE_ARN");
}

static bool has_container(void)
{
    return ini_env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") ||
           ini_env("AWS_CONTAINER_CREDENTIALS_FULL_URI");
}

/* Local credentials. A named profile takes precedence over the environment. *other: the unsupported
 * method that the profile requires. */
static bool find_at_hand(aws_credentials *c, const char **other)
{
    bool named = ini_env("AWS_PROFILE") != NULL;
    *other = NULL;
    if (!named && from_environment(c))
        return true;
    if (!named && has_web_identity())
        return false;
    bool keys = aws_from_file(false, c) || aws_from_file(true, c);
    *other = other_way(keys);
    if (keys && !*other)
        return true;
    return named && from_environment(c); /* a tool has exported them */
}

static int aws_find_credentials(fetch_ask *a, aws_credentials *c)
{
    const char *other;
    if (find_at_hand(c, &other))
        return 0;
    aws_credentials_wipe(c);
    if (other)
        return vp_fail(VP_EREFUSED,
                       "the profile %.80s needs %s, which is not supported; run eval \"$(aws "
                       "configure export-credentials --format env)\" to export its credentials",
                       aws_profile_name(), other);
    if (has_web_identity())
        return from_web_identity(a, c);
    if (has_container())
        return from_container(a, c);
    if (may_ask_instance() && from_instance(a, c) == 0)
        return 0;
    return vp_fail(VP_EREFUSED,
                   "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or "
                   "AWS_PROFILE, or use --no-sign-request for a public bucket");
}

int aws_credentials_get(fetch_ask *a, aws_credentials *out)
{
    pthread_mutex_lock(&lock);
    int rc = 0;
    if (!kept.from || (kept.until_s && kept.until_s - AHEAD_S < (int64_t)time(NULL))) {
        aws_credentials_wipe(&kept);
        rc = aws_find_credentials(a, &kept);
        if (rc < 0)
            aws_credentials_wipe(&kept);
    }
    if (rc == 0)
        *out = kept;
    pthread_mutex_unlock(&lock);
    return rc;
}

const char *aws_credentials_source(const char **other)
{
    aws_credentials c = {0};
    const char *from = find_at_hand(&c, other) ? c.from
                       : *other                ? NULL
                       : has_web_identity()    ? "a web identity"
                       : has_container()       ? "the container's endpoint"
                                               : NULL;
    aws_credentials_wipe(&c);
    return from;
}
