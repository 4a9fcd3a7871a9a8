/* What is added behind a host's exported events: the tracks of its analysis. The server's store
 * makes them once they are asked for; where there is none they are made by another thread while the
 * events are exported. A profile that cannot be analysed is exported without them, and the log says
 * so. The maker keeps it until the stream that takes its pick is closed, and frees it. */
#ifndef VP_ROUTES_ADDED_TRACKS_H
#define VP_ROUTES_ADDED_TRACKS_H

#include "server/routes/store/store.h"
#include "trace/base/thread.h"
#include "trace/export/hosts.h"
#include "trace/export/shared/added.h"

typedef struct added_tracks {
    ex_added added;
    store *st; /* which shares them with others who ask; NULL: they are made for this one */
    catalog *c;
    const cat_session *s;
    const cat_host *h;
    const ex_pick *pick;
    store_asker who;    /* for whom; all zero: somebody who always waits */
    store_asker client; /* of the download, once it is known; likewise */
    bool lacking; /* of any host: no tracks for a reason that may pass, as of an http_source */
    store_report *held; /* of st */
    derived *made;      /* own, without st, once `aside` has ended */
    vp_aside aside;     /* makes them */
    _Atomic bool stop;  /* nobody wants them */
} added_tracks;

/* Borrows all; sets pick->added. st may be NULL. */
void added_tracks_init(added_tracks *t, ex_pick *pick, store *st, catalog *c, const cat_session *s,
                       const cat_host *h);
/* The same for one host after the other, as ex_hosts asks: t was zeroed but for st, c, s and who.
 */
void added_tracks_of_hosts(added_tracks *t, ex_hosts *hosts);
void added_tracks_free(added_tracks *t);
/* The http_source's `client` of a stream that t is written behind. */
void added_tracks_client(added_tracks *t, bool (*gone)(const void *of), const void *of);

#endif
