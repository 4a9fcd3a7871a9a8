#include "server/fetch/credentials/azure_credentials.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "server/fetch/credentials/oauth_token.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/ini_file.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

#define MISSING                                                                                    \
    "no Azure credentials: set AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_SAS_TOKEN or "       \
    "AZURE_STORAGE_KEY, or use --no-sign-request for a public container"
#define RESOURCE "resource=https%%3A%%2F%%2Fstorage.azure.com%%2F"
/* The key of the emulator, published by Microsoft. */
#define DEV_NAME "devstoreaccount1"
#define DEV_KEY                                                                                    \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

void azure_account_wipe(azure_account *account)
{
    OPENSSL_cleanse(account, sizeof *account);
}

static int set_azure_value(char *out, size_t cap, vp_str s)
{
    if (s.n >= cap)
        return vp_fail(VP_EARG, "a value in AZURE_STORAGE_… is too long");
    memcpy(out, s.p ? s.p : "", s.n);
    out[s.n] = '\0';
    return 0;
}

static int set_pair(azure_account *out, vp_str name, vp_str value)
{
    if (vp_str_eq_nocase(name, VP_STR("AccountName")))
        return set_azure_value(out->name, sizeof out->name, value);
    if (vp_str_eq_nocase(name, VP_STR("AccountKey")))
        return set_azure_value(out->key, sizeof out->key, value);
    if (vp_str_eq_nocase(name, VP_STR("SharedAccessSignature")))
        return set_azure_value(out->sas, sizeof out->sas,
                               vp_str_skip(value, vp_str_starts(value, VP_STR("?"))));
    if (vp_str_eq_nocase(name, VP_STR("BlobEndpoint")))
        return set_azure_value(out->endpoint, sizeof out->endpoint, url_without_end(value));
    if (vp_str_eq_nocase(name, VP_STR("EndpointSuffix")))
        return set_azure_value(out->suffix, sizeof out->suffix, value);
    if (vp_str_eq_nocase(name, VP_STR("UseDevelopmentStorage"))) {
        VP_TRY(set_azure_value(out->name, sizeof out->name, VP_STR(DEV_NAME)));
        VP_TRY(set_azure_value(out->key, sizeof out->key, VP_STR(DEV_KEY)));
        return set_azure_value(out->endpoint, sizeof out->endpoint,
                               VP_STR("http://127.0.0.1:10000/" DEV_NAME));
    }
    return 0;
}

static int from_string(azure_account *out, vp_str s)
{
    while (s.n) {
        vp_str pair, name;
        if (!vp_take_until(&s, ';', s.n, &pair))
            pair = s, s.n = 0;
        if (vp_take_until(&pair, '=', pair.n, &name))
            VP_TRY(set_pair(out, name, pair));
    }
    return 0;
}

/* Variables that override a part of the connection string. */
static const struct {
    const char *variable, *pair;
} variables[] = {
    {"AZURE_STORAGE_ACCOUNT", "AccountName"},
    {"AZURE_STORAGE_KEY", "AccountKey"},
    {"AZURE_STORAGE_SAS_TOKEN", "SharedAccessSignature"},
    {"AZURE_STORAGE_ENDPOINT", "BlobEndpoint"},
    {"AZURE_STORAGE_SERVICE_ENDPOINT", "BlobEndpoint"},
};

int azure_account_find(azure_account *out)
{
    const char *all = ini_env("AZURE_STORAGE_CONNECTION_STRING");
    *out = (azure_account){.suffix = "core.windows.net"};
    VP_TRY(all ? from_string(out, vp_str_of(all)) : 0);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = ini_env(variables[i].variable);
        if (value)
            VP_TRY(set_pair(out, vp_str_of(variables[i].pair), vp_str_of(value)));
    }
    return 0;
}

/* ---- Identities ------------------------------------------------------------------------------ */

static void put_form_pair(vp_buf *b, const char *name, vp_str value)
{
    vp_buf_printf(b, "&%s=", name);
    url_encode(b, value, false);
}

static bool has_client(void)
{
    return ini_env("AZURE_CLIENT_ID") && ini_env("AZURE_TENANT_ID") &&
           (ini_env("AZURE_FEDERATED_TOKEN_FILE") || ini_env("AZURE_CLIENT_SECRET"));
}

/* A service principal: with its secret, or with a token that Kubernetes wrote into a file. */
static int from_client(fetch_ask *a, oauth_token *out)
{
    char url[512];
    const char *host = ini_env("AZURE_AUTHORITY_HOST"), *secret = ini_env("AZURE_CLIENT_SECRET");
    vp_str base =
        url_without_end(host ? vp_str_of(host) : VP_STR("https://login.microsoftonline.com"));
    vp_buf form, file;
    vp_buf_init(&form, 64u << 10);
    vp_buf_init(&file, 2u << 20);
    snprintf(url, sizeof url, "%.*s/%.100s/oauth2/v2.0/token", VP_STR_CUT(base, 300),
             ini_env("AZURE_TENANT_ID"));
    vp_buf_puts(&form, "grant_type=client_credentials&scope=https%3A%2F%2Fstorage.azure.com%2F."
                       "default");
    put_form_pair(&form, "client_id", vp_str_of(ini_env("AZURE_CLIENT_ID")));
    int rc = 0;
    if (secret) {
        put_form_pair(&form, "client_secret", vp_str_of(secret));
    } else {
        rc = ini_read(ini_env("AZURE_FEDERATED_TOKEN_FILE"), &file);
        put_form_pair(&form, "client_assertion",
                      (vp_str){file.p, strcspn(vp_buf_cstr(&file), "\r\n")});
        put_form_pair(&form, "client_assertion_type",
                      VP_STR("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"));
    }
    if (rc == 0)
        rc = form.status ? form.status : oauth_post(a, url, vp_buf_view(&form), out);
    digest_wipe(&form);
    digest_wipe(&file);
    return rc;
}

static void put_identity(char *url, size_t cap)
{
    const char *service = ini_env("IDENTITY_ENDPOINT"),
               *host = ini_env("AZURE_POD_IDENTITY_AUTHORITY_HOST"),
               *client = ini_env("AZURE_CLIENT_ID");
    vp_str base = url_without_end(host ? vp_str_of(host) : VP_STR("http://169.254.169.254"));
    if (service)
        snprintf(url, cap, "%.300s?api-version=2019-08-01&" RESOURCE, service);
    else
        snprintf(url, cap, "%.*s/metadata/identity/oauth2/token?api-version=2018-02-01&" RESOURCE,
                 VP_STR_CUT(base, 300));
    size_t n = strlen(url);
    if (client)
        snprintf(url + n, cap - n, "&client_id=%.100s", client);
}

/* A managed identity; App Service has its own endpoint for it. */
static int from_identity(fetch_ask *a, oauth_token *out)
{
    char url[1024];
    const char *header = ini_env("IDENTITY_HEADER");
    http_call c;
    put_identity(url, sizeof url);
    int rc = http_begin(&c, a, "GET", vp_str_of(url));
    c.flags = HTTP_DIRECT | HTTP_ONCE;
    if (rc == 0)
        rc = ini_env("IDENTITY_ENDPOINT") && header
                 ? http_put_header(&c, "X-IDENTITY-HEADER: %s", header)
                 : http_put_header(&c, "Metadata: true");
    if (rc == 0)
        rc = http_perform(&c);
    rc = rc == 0 && c.status == 200 ? oauth_take(&c, out)
         : rc == VP_ECANCELLED      ? rc
                                    : vp_fail(VP_EREFUSED, "%s", MISSING);
    http_end(&c);
    return rc;
}

static int azure_find_token(fetch_ask *a, oauth_token *out)
{
    return has_client() ? from_client(a, out) : from_identity(a, out);
}

int azure_authorize(fetch_ask *a, http_call *c)
{
    static oauth_kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return oauth_authorize(&kept, azure_find_token, a, c);
}

const char *azure_credentials_source(void)
{
    azure_account account;
    const char *from = NULL;
    if (azure_account_find(&account) == 0)
        from = account.sas[0]                 ? "a SAS token"
               : account.key[0]               ? "an account's key"
               : has_client()                 ? "a service principal"
               : ini_env("IDENTITY_ENDPOINT") ? "a managed identity"
                                              : NULL;
    azure_account_wipe(&account);
    return from;
}
