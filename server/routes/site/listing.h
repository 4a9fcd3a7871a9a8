/* Selects and orders the runs of the index by the query. Figures come from cached reports; runs
 * without a report are last in either order. The caller frees the rows. */
#ifndef VP_ROUTES_LISTING_H
#define VP_ROUTES_LISTING_H

#include "server/routes/store/store.h"
#include "trace/base/str.h"

/* Maximum length of a query, including its NUL; longer ones are truncated. */
#define LISTING_QUERY_MAX 200u

typedef enum listing_sort {
    LISTING_BY_TIME, /* newest first, the order of the catalog */
    LISTING_BY_NAME, /* A to Z */
    LISTING_BY_SIZE, /* largest first */
    LISTING_BY_BUSY, /* least busy first */
    LISTING_BY_STEP, /* slowest median step first */
    LISTING_SORTS
} listing_sort;

typedef struct listing_query {
    char text[LISTING_QUERY_MAX]; /* lower case; "" for all */
    listing_sort sort;
    bool backwards; /* descending order */
    bool grouped;   /* runs of one nested run are adjacent, at the position of the first one */
} listing_query;

/* q: the words to search for; NULL: none. sort: a name, with '-' in front for descending order;
 * NULL and unknown names sort by time. */
void listing_query_of(listing_query *out, const char *q, const char *sort, const char *group);
const char *listing_sort_name(listing_sort s);

typedef struct listing_row {
    const cat_session *session;
    int64_t figure;      /* sort key: hundredths of a percent or ps; VP_UNKNOWN */
    size_t place, group; /* position within the order; position of the group of its run */
} listing_row;

typedef struct listing {
    listing_row *rows; /* vp_free */
    size_t count;
    size_t unknown; /* of these: rows whose sort key is not known yet */
} listing;

/* Lists the runs of c that match, in order. st may be NULL: no figures. */
int listing_make(listing *out, store *st, const catalog *c, const listing_query *q);

/* "train/run1" for train/run1/2026_01_11_21_26_41; empty for a run at the top level. */
vp_str listing_run_of(const cat_session *s);
/* Returns how busy the devices were, in hundredths of a percent, or the median step in ps; or
 * VP_UNKNOWN. */
int64_t listing_busy(const vp_report *r);
int64_t listing_step(const vp_report *r);

#endif
