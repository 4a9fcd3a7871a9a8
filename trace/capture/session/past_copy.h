/* Copies the past of an active recording into a session. Private to the recorder. Failures:
 * VP_ENOMEM, VP_EIO and those of run_dir_make.
 *
 * In a ring a busy thread overwrites its chunks sooner than a quiet one, so the remaining events of
 * each thread begin at different times. Before a chunk is overwritten, the time of its last event
 * is noted (lost_until). Every reader of an image, whether finished, copied or left by a crash,
 * starts at that time in all threads, and counts earlier events as overwritten. A copy first finds
 * all chunks and then copies the newest first, while the threads reuse the oldest. So it contains
 * everything recorded at the time of the request, unless the threads overwrote the whole ring
 * meanwhile. */
#ifndef VP_CAPTURE_PAST_COPY_H
#define VP_CAPTURE_PAST_COPY_H

#include "trace/capture/session/session.h"

struct cap_past {
    cap_session *from; /* session whose image this one reads (its `readers`) */
    double seconds;    /* <= 0: all */
    /* Later events are excluded, because some threads would have more of them than others. */
    vpcap_pair until;
};

/* Copies the image, creates the directory, and sets the result of a session with a `past`. Called
 * without the lock. 0, or why it failed. */
int past_take(cap_session *s);

#endif
