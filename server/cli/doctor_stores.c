#include "server/cli/doctor_stores.h"

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_frames.h"
#include "trace/source/fetcher.h"
#include "trace/source/source_ask.h"

/* "s3:// by the environment, gs:// by a user's file; none found for az://" */
static int put_stores(vp_buf *by, vp_buf *without, vp_str payload)
{
    vp_pb r = vp_pb_of(payload);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) == 1) {
        source_entry e;
        if (f.number != FETCH_ENTRIES_ONE)
            continue;
        VP_TRY(source_entry_of(&e, f.data));
        vp_buf *b = e.why.n ? by : without;
        vp_buf_printf(b, "%s%.*s", b->n ? ", " : "", VP_STR_CUT(e.name, 160));
        if (e.why.n)
            vp_buf_printf(b, " by %.*s", VP_STR_CUT(e.why, 60));
    }
    return rc;
}

static int ask_fetcher_sources(fetcher *f, vp_buf *by, vp_buf *without)
{
    VP_CLEANUP(vp_fs_close) int stream = -1;
    VP_CLEANUP(vp_buf_free) vp_buf question;
    VP_CLEANUP(vp_buf_free) vp_buf answer;
    fetch_frame kind;
    vp_buf_init(&question, 64);
    vp_buf_init(&answer, FETCH_FRAME_MAX + 2);
    vp_pb_put_u64(&question, FETCH_ASK_WHAT, FETCH_STORES);
    VP_TRY(question.status);
    VP_TRY(fetcher_ask(f, vp_buf_view(&question), NULL, 0, &stream));
    VP_TRY(fetch_next(stream, &kind, &answer));
    return kind == FETCH_ENTRIES ? put_stores(by, without, vp_buf_view(&answer)) : 0;
}

void doctor_stores(survey_line *out)
{
    VP_CLEANUP(vp_buf_free) vp_buf by;
    VP_CLEANUP(vp_buf_free) vp_buf without;
    fetcher *f = NULL;
    vp_buf_init(&by, 512);
    vp_buf_init(&without, 512);
    int rc = fetcher_start(&f);
    if (rc >= 0)
        rc = ask_fetcher_sources(f, &by, &without);
    fetcher_end(f);
    if (rc < 0)
        survey_say(out, SURVEY_OPTIONAL, "needed to capture running jobs and to read addresses",
                   "%.300s", vp_error_last()->message);
    else if (!by.n)
        survey_say(out, SURVEY_OPTIONAL,
                   "cloud machines may provide credentials themselves; else see docs/stores.md, or "
                   "use --no-sign-request for public buckets",
                   "no credentials found for %s", vp_buf_cstr(&without));
    else
        survey_say(out, SURVEY_OK, "", "credentials for %s%s%s", vp_buf_cstr(&by),
                   without.n ? "; none found for " : "", vp_buf_cstr(&without));
}
