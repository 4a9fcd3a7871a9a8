/* Makes one run of several that are ranks of one job. Private to the catalog. */
#ifndef VP_MODEL_CATALOG_RANK_RUNS_H
#define VP_MODEL_CATALOG_RANK_RUNS_H

#include "trace/model/catalog/catalog_impl.h"
#include "trace/model/catalog/catalog_rank_names.h"

/* out may be one of the catalog's runs, which are given by index; so are names. world: 0 or the
 * number of ranks of the job. VP_ENOMEM, VP_ELIMIT. */
int cat_rank_run(cat_scan *s, cat_session *out, const uint32_t *runs, size_t n,
                 const cat_rank_name *names, uint32_t world);

#endif
