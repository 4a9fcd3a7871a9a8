#include "server/routes/pages/index_live.h"

#include "server/routes/live/capture_jobs.h"
#include "server/routes/site/page.h"

static void put_capture_form(vp_buf *b)
{
    vp_buf_printf(
        b,
        "<noscript><p>Capturing from this page needs JavaScript; <code>view_profile capture "
        "HOST:PORT</code> does the same.</p></noscript>\n"
        "<form id=\"capture\" class=\"capture\" hidden>"
        "<label>Host and port <input name=\"targets\" required maxlength=\"%u\" size=\"28\" "
        "autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" "
        "placeholder=\"127.0.0.1:9012\" aria-describedby=\"capture-hint\"></label>"
        "<label>Seconds <input name=\"seconds\" type=\"number\" min=\"0.1\" max=\"%u\" "
        "step=\"0.1\" value=\"2\" required></label>"
        "<button class=\"button\">Capture</button>"
        "<span id=\"capture-said\" class=\"error\" role=\"alert\"></span>"
        "<p id=\"capture-hint\" class=\"muted\">What <code>jax.profiler.start_server(9012)</code> "
        "or TensorFlow serves; several with commas become one run.</p></form>\n",
        CAPTURE_TARGETS_TEXT - 1, CAPTURE_MS_MAX / 1000);
}

void index_live_put(vp_buf *b, const site *at, bool open)
{
    const char *refused = captures_refused(at);
    vp_buf_printf(b,
                  "<section id=\"live\" class=\"card live\" aria-label=\"Running programs\">\n"
                  "<div id=\"programs\"></div>\n"
                  "<details id=\"capturing\"%s><summary>Capture a running program</summary>\n",
                  open ? " open" : "");
    if (refused) {
        vp_buf_puts(b, "<p class=\"muted\">Not available: ");
        page_text(b, refused);
        vp_buf_puts(b, ".</p>\n");
    } else {
        put_capture_form(b);
    }
    vp_buf_puts(b, "</details></section>\n");
}
