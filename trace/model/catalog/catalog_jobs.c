#include "trace/model/catalog/catalog_jobs.h"

#include "trace/base/err.h"
#include "trace/base/hash.h"

bool cat_job_takes(const cat_job *j, uint32_t world, uint32_t backend, uint32_t ranks)
{
    uint32_t most = j->world ? j->world : world;
    if ((j->world && world && j->world != world) ||
        (j->backend && backend && j->backend != backend))
        return false;
    return !most || (uint64_t)j->ranks + ranks <= most;
}

int64_t cat_job_gap(const cat_job *j, int64_t first_ns, int64_t last_ns)
{
    if (!j->first_ns || !first_ns)
        return -1;
    /* Both are times of this century: no difference overflows. */
    if (first_ns > j->last_ns)
        return first_ns - j->last_ns;
    return j->first_ns > last_ns ? j->first_ns - last_ns : 0;
}

/* Only the first and the last events of a file are seen. In a long capture a rank's may be far from
 * those of another, although their captures overlap. */
bool cat_job_is_at(const cat_job *j, int64_t first_ns, int64_t last_ns)
{
    int64_t a = j->last_ns - j->first_ns, b = last_ns - first_ns, longest = a > b ? a : b;
    return cat_job_gap(j, first_ns, last_ns) <=
           (longest > CAT_JOB_SPREAD_NS ? longest : CAT_JOB_SPREAD_NS);
}

static uint64_t job_rank_key(const cat_job *j, const rd_rank *r)
{
    uint32_t words[2] = {j->id, r->rank};
    return vp_hash(words, sizeof words, 1);
}

bool cat_job_has(const cat_job *j, const vp_map *seen, const rd_rank *r)
{
    return r->has_rank && vp_map_get(seen, job_rank_key(j, r)) != VP_MAP_NONE;
}

bool cat_job_prefer(cat_job_choice *best, const cat_job *j, bool alike, int64_t first_ns)
{
    int64_t apart = -1;
    if (j->first_ns && first_ns)
        apart = first_ns > j->first_ns ? first_ns - j->first_ns : j->first_ns - first_ns;
    bool nearer = apart >= 0 && (best->apart_ns < 0 || apart < best->apart_ns);
    if (best->job && (alike != best->alike ? !alike : !nearer))
        return false;
    *best = (cat_job_choice){j, alike, apart};
    return true;
}

void cat_job_widen(cat_job *j, uint32_t world, uint32_t backend, int64_t first_ns, int64_t last_ns)
{
    j->world = j->world ? j->world : world;
    j->backend = j->backend ? j->backend : backend;
    if (!first_ns)
        return;
    j->first_ns = !j->first_ns || first_ns < j->first_ns ? first_ns : j->first_ns;
    j->last_ns = last_ns > j->last_ns ? last_ns : j->last_ns;
}

int cat_job_add(cat_job *j, vp_map *seen, const rd_rank *r)
{
    cat_job_widen(j, r->world, r->backend, r->first_ns, r->last_ns);
    j->ranks++;
    return r->has_rank ? vp_map_set(seen, job_rank_key(j, r), 0) : 0;
}
