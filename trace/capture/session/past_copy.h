/* How a session takes the past of a recording that goes on. Private to the recorder.
 *
 * In a ring a busy thread goes round sooner than a quiet one, so what is left of each begins at
 * another time. Whoever takes a chunk away notes when the last event in it ended (lost_until)
 * before anybody writes over it. Every reader of an image, be it finished, copied or left by a
 * crash, begins at that time in all threads, and counts what lies before as overwritten. A copy
 * first finds all chunks and then copies the newest first, while the threads take the oldest away:
 * what was recorded when the past was asked for is in it, unless the threads went round once
 * meanwhile. */
#ifndef VP_CAPTURE_PAST_COPY_H
#define VP_CAPTURE_PAST_COPY_H

#include "trace/capture/session/session.h"

struct cap_past {
    cap_session *from; /* the session whose image this one reads (its `readers`) */
    double seconds;    /* <= 0: all */
    vpcap_pair until; /* what ended later is left out, since some threads would have more of it than
                         others */
};

/* Copies the image, makes the directory, and sets the result of a session that has a `past`.
 * Without the lock. 0, or why it cannot. */
int past_take(cap_session *s);

#endif
