/* Adds the analysis tracks to the exported events of a host. The store of the server provides
 * them; without a store, another thread makes them while the events are exported. A profile that
 * cannot be analyzed is exported without them, with a log message. The caller keeps the object
 * until the stream is closed, and frees it. */
#ifndef VP_ROUTES_ADDED_TRACKS_H
#define VP_ROUTES_ADDED_TRACKS_H

#include "server/routes/store/store.h"
#include "trace/base/thread.h"
#include "trace/export/hosts.h"
#include "trace/export/shared/added.h"

typedef struct added_tracks {
    ex_added added;
    store *st; /* the store that caches them; NULL: made for this export */
    catalog *c;
    const cat_session *s;
    const cat_host *h;
    const ex_pick *pick;
    store_asker who;    /* the client; all zero: never disconnects */
    store_asker client; /* of the download, when it is known; likewise */
    bool lacking; /* of any host: tracks are missing for a temporary reason, as for http_source */
    store_report *held; /* of st */
    derived *made;      /* owned, without st, after `aside` has ended */
    vp_aside aside;     /* makes them */
    _Atomic bool stop;  /* no longer needed */
} added_tracks;

/* Borrows all arguments; sets pick->added. st can be NULL. */
void added_tracks_init(added_tracks *t, ex_pick *pick, store *st, catalog *c, const cat_session *s,
                       const cat_host *h);
/* The same for each host in turn, as called by ex_hosts: t is zero except for st, c, s and who. */
void added_tracks_of_hosts(added_tracks *t, ex_hosts *hosts);
void added_tracks_free(added_tracks *t);
/* The `client` callback of the http_source to which t is added. */
void added_tracks_client(added_tracks *t, bool (*gone)(const void *of), const void *of);

#endif
