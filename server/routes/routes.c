#include "server/routes/routes.h"

/* POST /status has no route on purpose: the 404 tells Perfetto that no trace_processor listens
 * here. Listed origins may read the 404 of any address without a route. */
static const http_route table[] = {
    {HTTP_GET, "/trace/{}/raw/{}", route_trace_raw, HTTP_SLOW},
    {HTTP_GET, "/trace/{}/{}", route_trace_json, HTTP_SLOW | HTTP_CORS},
    {HTTP_GET, "/api/v1/sessions", route_sessions_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/report", route_report_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/ops", route_ops_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/op", route_op_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/findings", route_findings_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/tracks", route_tracks, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/slices", route_slices, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/marks", route_timeline_marks, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/event", route_timeline_event, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/search", route_timeline_search, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/range", route_timeline_range, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/compare/{}/{}", route_compare_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/compare/{}/{}/timeline", route_compare_timeline, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/state", route_state_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/", page_index, HTTP_SLOW},
    {HTTP_GET, "/session/{}/", page_session, HTTP_SLOW},
    {HTTP_GET, "/session/{}/headline", page_headline, HTTP_SLOW},
    {HTTP_GET, "/session/{}/op", page_op, HTTP_SLOW},
    {HTTP_GET, "/session/{}/timeline", page_timeline, HTTP_SLOW},
    {HTTP_GET, "/session/{}/ops.csv", route_ops_csv, HTTP_SLOW},
    {HTTP_GET, "/compare", page_compare_form, HTTP_SLOW},
    {HTTP_GET, "/compare/{}/{}", page_compare, HTTP_SLOW},
    {HTTP_GET, "/compare/{}/{}/timeline", page_compare_timeline, HTTP_SLOW},
    {HTTP_GET, "/perfetto/{}", page_perfetto, HTTP_SLOW},
    {HTTP_GET, "/perfetto/{}/{}", page_perfetto, HTTP_SLOW},
    {HTTP_GET, "/tensorboard/{}", page_tensorboard, HTTP_SLOW},
    {HTTP_GET, "/static/{}", route_static, 0},
    {HTTP_GET | HTTP_POST, "/api/v1/extract", route_extract, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/live", route_live, HTTP_SLOW | HTTP_API},
    {HTTP_POST, "/api/v1/live/{}/capture", route_live_capture, HTTP_SLOW | HTTP_API},
    {HTTP_GET | HTTP_POST, "/api/v1/capture", route_capture, HTTP_SLOW | HTTP_API},
    {HTTP_POST, "/api/v1/capture/{}/cancel", route_capture_cancel, HTTP_SLOW | HTTP_API},
    {HTTP_POST, "/api/v1/rescan", route_rescan, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/healthz", route_health, HTTP_OPEN},
    {HTTP_GET, "/readyz", route_ready, HTTP_OPEN},
    {HTTP_GET, "/metrics", route_metrics, 0},
    {0, NULL, NULL, 0},
};

const http_route *site_routes(void)
{
    return table;
}
