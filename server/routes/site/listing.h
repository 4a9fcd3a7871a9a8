/* Selects and orders the runs of the index by the query. Figures come from cached reports; runs
 * without a report are last in either order. The caller frees the rows. */
#ifndef VP_ROUTES_LISTING_H
#define VP_ROUTES_LISTING_H

#include "server/routes/store/store.h"
#include "trace/base/str.h"

/* A query is cut here; it has a NUL. */
#define LISTING_QUERY_MAX 200u

typedef enum listing_sort {
    LISTING_BY_TIME, /* newest first, as the catalog has them */
    LISTING_BY_NAME, /* A to Z */
    LISTING_BY_SIZE, /* largest first */
    LISTING_BY_BUSY, /* least busy first */
    LISTING_BY_STEP, /* slowest median step first */
    LISTING_SORTS
} listing_sort;

typedef struct listing_query {
    char text[LISTING_QUERY_MAX]; /* lower case; "" for all */
    listing_sort sort;
    bool backwards; /* against the order above */
    bool grouped;   /* sessions of one nested run stand together, where its first one stands */
} listing_query;

/* q: the words to look for, NULL for none. sort: a name, with '-' in front for backwards; NULL and
 * unknown ones sort by time. */
void listing_query_of(listing_query *out, const char *q, const char *sort, const char *group);
const char *listing_sort_name(listing_sort s);

typedef struct listing_row {
    const cat_session *session;
    int64_t figure;      /* what it is sorted by: hundredths of a percent or ps; VP_UNKNOWN */
    size_t place, group; /* within the order; where the group of its run stands */
} listing_row;

typedef struct listing {
    listing_row *rows; /* vp_free */
    size_t count;
    size_t unknown; /* of them: the figure asked for is not known yet */
} listing;

/* The sessions of c that match, in order. st may be NULL: no figures. */
int listing_make(listing *out, store *st, const catalog *c, const listing_query *q);

/* "train/run1" of "train/run1/2026_01_11_21_26_41"; empty for a session at the top. */
vp_str listing_run_of(const cat_session *s);
/* How busy the devices were, in hundredths of a percent; the median step in ps; or VP_UNKNOWN. */
int64_t listing_busy(const vp_report *r);
int64_t listing_step(const vp_report *r);

#endif
