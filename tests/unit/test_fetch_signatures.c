/* server/fetch: signatures against the examples that AWS and others publish, names of objects, and
 * the reader of listings, whose text may come in any pieces. */
#include <stdio.h>
#include <string.h>

#include "server/fetch/credentials/aws_sign.h"
#include "server/fetch/credentials/azure_key.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "tests/unit/skip.h"
#include "trace/base/err.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* ---- AWS ------------------------------------------------------------------------------------- */

typedef struct aws_example {
    const char *what, *method, *path, *query;
    aws_signed_header headers[5];
    const char *payload, *signature;
} aws_example;

#define H(name, value)                                                                             \
    {                                                                                              \
        VP_STR_INIT(name), VP_STR_INIT(value)                                                      \
    }
#define S3_HOST H("host", "examplebucket.s3.amazonaws.com")
#define S3_DATE H("x-amz-date", "20130524T000000Z")
#define S3_EMPTY H("x-amz-content-sha256", EMPTY)

/* docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
static const aws_example s3_examples[] = {
    {"GET an object",
     "GET",
     "/test.txt",
     "",
     {S3_HOST, H("range", "bytes=0-9"), S3_EMPTY, S3_DATE},
     EMPTY,
     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
    {"PUT an object",
     "PUT",
     "/test%24file.text",
     "",
     {H("date", "Fri, 24 May 2013 00:00:00 GMT"), S3_HOST,
      H("x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"),
      S3_DATE, H("x-amz-storage-class", "REDUCED_REDUNDANCY")},
     "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
    {"GET a bucket's lifecycle",
     "GET",
     "/",
     "lifecycle=",
     {S3_HOST, S3_EMPTY, S3_DATE},
     EMPTY,
     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    {"list objects",
     "GET",
     "/",
     "max-keys=2&prefix=J",
     {S3_HOST, S3_EMPTY, S3_DATE},
     EMPTY,
     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
};

/* aws-sig-v4-test-suite */
static const aws_example suite[] = {
    {"get-vanilla",
     "GET",
     "/",
     "",
     {H("host", "example.amazonaws.com"), H("x-amz-date", "20150830T123600Z")},
     EMPTY,
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     "Param1=value1&Param2=value2",
     {H("host", "example.amazonaws.com"), H("x-amz-date", "20150830T123600Z")},
     EMPTY,
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"post-vanilla",
     "POST",
     "/",
     "",
     {H("host", "example.amazonaws.com"), H("x-amz-date", "20150830T123600Z")},
     EMPTY,
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
};

static void check_aws(const aws_example *e, aws_request r)
{
    VP_CLEANUP(vp_buf_free) vp_buf out;
    vp_buf_init(&out, 4096);
    r.region = VP_STR("us-east-1");
    r.method = vp_str_of(e->method);
    r.path = vp_str_of(e->path);
    r.query = vp_str_of(e->query);
    r.headers = e->headers;
    while (r.header_n < 5 && e->headers[r.header_n].name.n)
        r.header_n++;
    r.payload = e->payload;
    assert_int_equal(aws_sign(&r, &out), 0);
    const char *signature = strstr(vp_buf_cstr(&out), ", Signature=");
    assert_non_null(signature);
    if (strcmp(signature + 12, e->signature) != 0)
        fail_msg("%s: %s", e->what, vp_buf_cstr(&out));
}

static void test_aws(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof s3_examples / sizeof *s3_examples; i++)
        check_aws(&s3_examples[i],
                  (aws_request){.key_id = VP_STR("AKIAIOSFODNN7EXAMPLE"),
                                .secret = VP_STR("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
                                .service = VP_STR("s3"),
                                .time = VP_STR("20130524T000000Z")});
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++)
        check_aws(&suite[i],
                  (aws_request){.key_id = VP_STR("AKIDEXAMPLE"),
                                .secret = VP_STR("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                                .service = VP_STR("service"),
                                .time = VP_STR("20150830T123600Z")});
}

/* ---- Azure ----------------------------------------------------------------------------------- */

/* learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key: its texts, whose key is
 * not published. */
static void test_azure_text(void **state)
{
    static const char
        get_headers[] = "x-ms-version: 2015-02-21\0x-ms-date: Fri, 26 Jun 2015 23:39:12 GMT",
        put_headers[] =
            "Content-Type: text/plain; charset=UTF-8\0x-ms-meta-m2: v2\0x-ms-version: 2015-02-21\0"
            "x-ms-meta-m1: v1\0x-ms-blob-type: BlockBlob",
        put_more[] = "x-ms-date: Sun, 20 Sep 2009 20:36:40 GMT";
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 4096);
    (void)state;
    assert_int_equal(
        azure_key_text(
            &(azure_request){.method = VP_STR("GET"),
                             .account = VP_STR("myaccount"),
                             .path = VP_STR("/mycontainer"),
                             .query = VP_STR("comp=metadata&restype=container&timeout=20"),
                             .headers = {get_headers, sizeof get_headers}},
            &b),
        0);
    assert_string_equal(vp_buf_cstr(&b),
                        "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
                        "x-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\n"
                        "restype:container\ntimeout:20");
    b.n = 0;
    assert_int_equal(
        azure_key_text(&(azure_request){.method = VP_STR("PUT"),
                                        .account = VP_STR("myaccount"),
                                        .path = VP_STR("/mycontainer/hello.txt"),
                                        .query = VP_STR("blockid=a%2Bb%3D%3D&comp=block"),
                                        .headers = {put_headers, sizeof put_headers},
                                        .more = {put_more, sizeof put_more},
                                        .body_n = 11},
                       &b),
        0);
    assert_string_equal(
        vp_buf_cstr(&b),
        "PUT\n\n\n11\n\ntext/plain; charset=UTF-8\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\n"
        "x-ms-date:Sun, 20 Sep 2009 20:36:40 GMT\nx-ms-meta-m1:v1\nx-ms-meta-m2:v2\n"
        "x-ms-version:2015-02-21\n/myaccount/mycontainer/hello.txt\nblockid:a+b==\ncomp:block");
}

static void test_azure_key(void **state)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    azure_request r = {.method = VP_STR("GET"), .account = VP_STR("a"), .path = VP_STR("/")};
    vp_buf_init(&b, 4096);
    (void)state;
    assert_int_equal(azure_key_sign(&r, VP_STR("a2V5"), &b), 0);
    assert_true(vp_str_starts(vp_buf_view(&b), VP_STR("SharedKey a:")) && b.n == 12 + 44);
    assert_int_equal(azure_key_sign(&r, VP_STR("no key"), &b), VP_EARG);
}

/* ---- Digests --------------------------------------------------------------------------------- */

/* RFC 4231, test case 2. */
static void test_hmac(void **state)
{
    unsigned char out[DIGEST_BYTES];
    char hex[DIGEST_HEX];
    (void)state;
    assert_true(digest_hmac(VP_STR("Jefe"), VP_STR("what do ya want for nothing?"), out));
    digest_hex(out, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

/* RFC 4648, 10. */
static void test_base64(void **state)
{
    static const char *const rows[][3] = {{"", "", ""},
                                          {"f", "Zg==", "Zg"},
                                          {"fo", "Zm8=", "Zm8"},
                                          {"foo", "Zm9v", "Zm9v"},
                                          {"\xfb\xff", "+/8=", "-_8"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int url = 0; url < 2; url++) {
            VP_CLEANUP(vp_buf_free) vp_buf b, back;
            vp_buf_init(&b, 64);
            vp_buf_init(&back, 64);
            assert_int_equal(digest_put_base64(&b, vp_str_of(rows[i][0]), url), 0);
            assert_string_equal(vp_buf_cstr(&b), rows[i][1 + url]);
            assert_int_equal(digest_from_base64(&back, vp_buf_view(&b)), 0);
            assert_string_equal(vp_buf_cstr(&back), rows[i][0]);
        }
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 64);
    assert_int_equal(digest_from_base64(&b, VP_STR("a b")), VP_EARG);
}

/* RFC 7515, A.2: its key, written as PEM, and what it signs. Google's service accounts sign so. */
static void test_rs256(void **state)
{
    static const char
        pem[] = "-----BEGIN RSA PRIVATE KEY-----\n"
                "MIIEowIBAAKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0\n"
                "l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pC\n"
                "gNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpaSHSX\n"
                "ndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD\n"
                "Zlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8\n"
                "q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABAoIBABKucaRpzQorw35S\n"
                "bEUAVx8dYXUdZOlJcHtiWQ+dC6V8ljxAHj/PLyzTveyI5QO/xkObCyjIL303l2cf\n"
                "UhPu2MFaJdjVzqACXuOrLot/eSFvxjvqVidTtAZExqFRJ9mylUVAoLvhowVWmC1O\n"
                "n95fZCXxTUtxNEG1Xcc7m0rtzJKs45J+N/V9DP1edYH6USyPSWGp6wuA+KgHRnKK\n"
                "Vf9GRx80JQY7nVNkL17eHoTWEwga+lwi0FEoW9Y7lDtWXYmKBWhUE+U8PGxlJf8f\n"
                "40493HDw1WRQ/aSLoS4QTp3rn7gYgeHEvfJdkkf0UMhlknlo53M09EFPdadQ4TlU\n"
                "bjqKc50CgYEA4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH/5IB3jw3bcxGn6QLvnE\n"
                "tfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw/Py5PJdTJNPY8cQn7ouZ2KKDcmnPG\n"
                "BY5t7yLc1QlQ5xHdwW1VhvKn+nXqhJTBgIPgtldC+KDV5z+y2XDwGUcCgYEAuQPE\n"
                "fgmVtjL0Uyyx88GZFF1fOunH3+7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYs\n"
                "p1ZSe7zFYHj7C6ul7TjeLQeZD/YwD66t62wDmpe/HlB+TnBA+njbglfIsRLtXlnD\n"
                "zQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdcCgYAHAp9XcCSrn8wVkMVkKdb7\n"
                "DOX4IKjzdahm+ctDAJN4O/y7OW5FKebvUjdAIt2GuoTZ71iTG+7F0F+lP88jtjP4\n"
                "U4qe7VHoewl4MKOfXZKTe+YCS1XbNvfgwJ3Ltyl1OH9hWvu2yza7q+d5PCsDzqtm\n"
                "27kxuvULVeya+TEdAB1ijQKBgQCH/3r6YrVH/uCWGy6bzV1nGNOdjKc9tmkfOJmN\n"
                "54dxdixdpozCQ6U4OxZrsj3FcOhHBsqAHvX2uuYjagqvo3cOj1TRqNocX40omfCC\n"
                "Mx3bD1yPPf/6TI2XECva/ggqEY2mYzmIiA5LVVmc5nrybr+lssFKneeyxN2Wq93S\n"
                "0iJMdQKBgCGHewxzoa1r8ZMD0LETNrToK423K377UCYqXfg5XMclbrjPbEC3YI1Z\n"
                "NqMtuhdBJqUnBi6tjKMF+34Xf0CUN8ncuXGO2CAYvO8PdyCixHX52ybaDjy1FtCE\n"
                "6yUXjoKNXKvUm7MWGsAYH6f4IegOetN5NvmUMFStCSkh7ixZLkN1\n"
                "-----END RSA PRIVATE KEY-----\n",
        text[] =
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGF"
            "tcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        signature[] =
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt"
            "_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArL"
            "IARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7no"
            "OPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ"
            "Ge77Rw";
    VP_CLEANUP(vp_buf_free) vp_buf b, url;
    (void)state;
    vp_buf_init(&b, 4096);
    vp_buf_init(&url, 4096);
    assert_int_equal(digest_rs256(&b, VP_STR(pem), VP_STR(text)), 0);
    assert_int_equal(digest_put_base64(&url, vp_buf_view(&b), true), 0);
    assert_string_equal(vp_buf_cstr(&url), signature);
    assert_int_equal(digest_rs256(&b, VP_STR("no key"), VP_STR(text)), VP_EARG);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    static const char *const bad[] = {"",   "/",      "a/",  "/a",   "a//b",  ".",
                                      "..", "a/../b", "a/.", "a\nb", "a\x7f", "\x1b[1m"};
    char longest[1026];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(url_name_fault(vp_str_of(bad[i])));
    assert_non_null(url_name_fault((vp_str){"a\0b", 3}));
    assert_null(url_name_fault(VP_STR("a/.b/..c/d e/\xc3\xbc")));
    memset(longest, 'x', sizeof longest);
    assert_null(url_name_fault((vp_str){longest, 1024}));
    assert_non_null(url_name_fault((vp_str){longest, 1025}));
}

static void test_escapes(void **state)
{
    VP_CLEANUP(vp_buf_free) vp_buf b, back;
    (void)state;
    vp_buf_init(&b, 256);
    vp_buf_init(&back, 256);
    url_encode(&b, VP_STR("a-._~/ +%\xc3\xbc"), true);
    assert_string_equal(vp_buf_cstr(&b), "a-._~/%20%2B%25%C3%BC");
    url_decode(&back, vp_buf_view(&b));
    assert_string_equal(vp_buf_cstr(&back), "a-._~/ +%\xc3\xbc");
    back.n = 0;
    url_decode(&back, VP_STR("%4%zz%"));
    assert_string_equal(vp_buf_cstr(&back), "%4%zz%");
}

/* ---- Listings -------------------------------------------------------------------------------- */

static int note(void *ctx, bool is_end, vp_str name, vp_str text)
{
    return vp_buf_printf(ctx, "%s%.*s=%.*s;", is_end ? "/" : "", VP_STR_ARG(name),
                         VP_STR_ARG(text));
}

static int walk(vp_str text, size_t piece, vp_buf *out)
{
    xml_walk x;
    vp_buf_init(out, 64u << 10);
    xml_begin(&x, note, out);
    for (; text.n; text = vp_str_skip(text, piece))
        VP_TRY(xml_feed(&x, vp_str_head(text, piece)));
    return xml_end(&x);
}

static void test_xml(void **state)
{
    static const char text[] = "\xef\xbb\xbf<?xml version='1.0'?><!-- <x> -- > --><d:a "
                               "xmlns:d=\"u/>\" y='>'> <b>1 &amp;&#x3c;"
                               "&#252;</b><c/><e x=\"1\" /><f><![CDATA[<&]]]]></f >\n</d:a>\n";
    (void)state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        VP_CLEANUP(vp_buf_free) vp_buf out;
        assert_int_equal(walk(VP_STR(text), piece, &out), 0);
        assert_string_equal(
            vp_buf_cstr(&out),
            "a=xmlns:d=\"u/>\" y='>';b=;/b=1 &<\xc3\xbc;c=;/c=;e=x=\"1\" /;/e=;f=;/f=<&]];/a=;");
    }
    for (size_t n = 0; n < sizeof text - 2; n++) { /* cut anywhere before its end */
        VP_CLEANUP(vp_buf_free) vp_buf out;
        assert_int_equal(walk((vp_str){text, n}, 7, &out), VP_ECORRUPT);
    }
}

static void test_xml_that_is_none(void **state)
{
    static const char *const bad[] = {"x",
                                      "<a>&b;</a>",
                                      "<a>&#0;</a>",
                                      "<a>&#xd800;</a>",
                                      "<a>&#x110000;</a>",
                                      "<a>&aaaaaaaaaaaaaaaaaaaaaaaa;</a>",
                                      "</a>",
                                      "<a/><b/>",
                                      "<>",
                                      "<!DOCTYPE a><a/>",
                                      "<a/b>",
                                      "<a></a></a>"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        VP_CLEANUP(vp_buf_free) vp_buf out;
        if (walk(vp_str_of(bad[i]), 100, &out) != VP_ECORRUPT)
            fail_msg("%s", bad[i]);
    }
}

static void test_times(void **state)
{
    (void)state;
    assert_int_equal(xml_time(VP_STR("2023-11-14T22:13:20Z")), INT64_C(1700000000000000000));
    assert_int_equal(xml_time(VP_STR("2023-11-14T22:13:20.0255Z")), INT64_C(1700000000025500000));
    assert_int_equal(xml_time(VP_STR("2023-11-14")), 0);
    assert_int_equal(xml_time(VP_STR("")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aws),       cmocka_unit_test(test_azure_text),
        cmocka_unit_test(test_azure_key), cmocka_unit_test(test_hmac),
        cmocka_unit_test(test_base64),    cmocka_unit_test(test_rs256),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_xml),       cmocka_unit_test(test_xml_that_is_none),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
