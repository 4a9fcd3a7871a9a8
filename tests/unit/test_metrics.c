/* What is counted is what is shown, under labels that no client chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "server/net/request/metrics.h"

static const http_route routes[] = {{HTTP_GET, "/a/{}", NULL, 0},
                                    {HTTP_GET, "/b", NULL, 0},
                                    {HTTP_POST, "/b", NULL, 0},
                                    {0, NULL, NULL, 0}};

static char *shown(const http_metrics *m)
{
    vp_buf b;
    vp_buf_init(&b, 1u << 20);
    http_metrics_put(m, &b);
    return vp_buf_take(&b, NULL);
}

static void every_request_is_in_one_series(void **state)
{
    http_metrics *m;
    (void)state;
    assert_int_equal(http_metrics_new(&m, routes), 0);
    http_metrics_add(m, &routes[0], 200, true, 10, 1000000000);
    http_metrics_add(m, &routes[0], 200, true, 5, 500000000);
    http_metrics_add(m, &routes[0], 404, true, 1, 1);
    http_metrics_add(m, &routes[1], 200, false, 77, 2); /* cut off: its bytes do not count */
    http_metrics_add(m, &routes[2], 200, true, 4, 3);   /* the same address, another method */
    http_metrics_add(m, NULL, 404, true, 0, 0);
    http_metrics_add(m, NULL, 0, false, 0, 0);
    http_metrics_add(m, NULL, 299, true, 0, 0); /* none of ours: with those of no status */
    char *text = shown(m);
    static const char *const lines[] = {
        "\nview_profile_http_requests_total{route=\"/a/{}\",code=\"200\"} 2\n",
        "\nview_profile_http_requests_total{route=\"/a/{}\",code=\"404\"} 1\n",
        "\nview_profile_http_requests_total{route=\"/b\",code=\"200\"} 2\n",
        "\nview_profile_http_requests_total{route=\"none\",code=\"404\"} 1\n",
        "\nview_profile_http_requests_total{route=\"none\",code=\"0\"} 2\n",
        "\nview_profile_http_request_seconds_sum 1.500000006\n",
        "\nview_profile_http_request_seconds_count 8\n",
        "\nview_profile_http_response_bytes_total 20\n",
        "\nview_profile_http_aborted_total 2\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(strstr(text, lines[i]));
    size_t series = 0;
    for (const char *p = text; (p = strstr(p, "_requests_total{")); p++)
        series++;
    assert_int_equal(series, 5);
    free(text);
    http_metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_request_is_in_one_series)};
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
