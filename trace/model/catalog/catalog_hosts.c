/* Assigns the files of a run to hosts. Both halves of a run, HOST.xplane.pb and HOST.trace.json.gz,
 * belong to one host; remote.trace.json.gz and perfetto_trace.json.gz repeat a host's xplane
 * without naming the host. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

#include <stdio.h>
#include <stdlib.h>

#define NO_HOST VP_MAP_NONE
#define NO_FILE UINT32_MAX
/* Hosts that are compared one by one; further ones use the map. */
#define FEW 8u

static int no_memory(void)
{
    return vp_fail(VP_ENOMEM, "out of memory for the files of a run");
}

static rd_role file_role(const cat_file *f)
{
    return rd_formats[f->kind.format].role;
}

/* All timelines share one rank, whatever their role. */
static int file_role_rank(const cat_file *f)
{
    rd_role role = file_role(f);
    return role < RD_ALONE ? (int)RD_ALONE : (int)role;
}

static int by_rank_and_name(const void *pa, const void *pb)
{
    const cat_file *a = pa, *b = pb;
    int order = file_role_rank(a) - file_role_rank(b);
    return order ? order : strcmp(a->name, b->name);
}

static int copy_session_file(cat_scan *s, cat_file *out, const cat_dir *d, const cat_found *f)
{
    const char *path = cat_path_of(s, d, f->name);
    if (!path)
        return no_memory();
    *out = (cat_file){.path = path,
                      .name = path + strlen(path) - f->name.n,
                      .location = d->archive ? d->archive : path,
                      .is_member = d->archive != NULL,
                      .member_index = f->member_index,
                      .kind = f->kind,
                      .bytes = f->bytes,
                      .mtime_ns = f->mtime_ns,
                      .id = f->id,
                      .host = NO_HOST,
                      .why = f->why,
                      .cut = f->cut,
                      .rank = f->rank};
    return 0;
}

static int copy_files(cat_scan *s, cat_session *out, const cat_dir *d,
                      const cat_found *const *files, size_t n)
{
    out->files = vp_arena_alloc(&s->c->arena, n * sizeof *out->files);
    if (!out->files)
        return no_memory();
    for (size_t i = 0; i < n; i++)
        VP_TRY(copy_session_file(s, &out->files[i], d, files[i]));
    qsort(out->files, n, sizeof *out->files, by_rank_and_name);
    out->file_count = n;
    return 0;
}

/* Hosts being collected: files are sorted, so hosts of one kind are sorted, too. */
typedef struct hosts {
    cat_scan *scan;
    cat_session *out;
    vp_map by_name;
    size_t first_halves;
} hosts;

static uint32_t host_among(const hosts *h, vp_str name, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (vp_str_eq(vp_str_of(h->out->hosts[i].name), name))
            return (uint32_t)i;
    return NO_HOST;
}

/* NO_HOST: no host has this name yet. */
static uint32_t host_named(const hosts *h, vp_str name)
{
    size_t few = h->out->host_count < FEW ? h->out->host_count : FEW;
    uint32_t i = host_among(h, name, 0, few);
    if (i != NO_HOST || few < FEW)
        return i;
    i = vp_map_get(&h->by_name, vp_hash(name.p, name.n, 0));
    if (i == VP_MAP_NONE || vp_str_eq(vp_str_of(h->out->hosts[i].name), name))
        return i;
    return host_among(h, name, FEW, h->out->host_count); /* hash collision */
}

static int add_host(hosts *h, vp_str name, uint32_t file)
{
    cat_host *host = &h->out->hosts[h->out->host_count];
    const char *copy = vp_arena_strndup(&h->scan->c->arena, name.p, name.n);
    if (!copy)
        return no_memory();
    *host = (cat_host){.name = copy, .primary = file, .secondary = NO_FILE};
    h->out->files[file].host = (uint32_t)h->out->host_count;
    if (h->out->host_count >= FEW)
        VP_TRY(vp_map_set(&h->by_name, vp_hash(name.p, name.n, 0), (uint32_t)h->out->host_count));
    h->out->host_count++;
    return 0;
}

static void attach_host_file(hosts *h, uint32_t host, uint32_t file)
{
    cat_host *to = &h->out->hosts[host];
    h->out->files[file].host = host;
    if (to->secondary == NO_FILE && file_role(&h->out->files[to->primary]) == RD_FIRST_HALF &&
        file_role(&h->out->files[file]) == RD_SECOND_HALF)
        to->secondary = file;
}

static vp_str session_short_name(const cat_session *s)
{
    vp_str name = vp_str_of(s->name);
    size_t slash = vp_str_rfind_char(name, '/');
    return slash == name.n ? name : vp_str_skip(name, slash + 1);
}

/* The rank that the only file of a run states, unless its name is that of a Kineto worker. */
static vp_str stated_host(const cat_session *s, const cat_file *f, char *room, size_t cap)
{
    vp_str stem, digits;
    int64_t ns;
    if (s->file_count != 1 || !f->rank.has_rank || f->rank.world < 2 ||
        cat_worker_time(vp_str_of(f->name), &stem, &digits, &ns))
        return VP_STR_NONE;
    snprintf(room, cap, "rank%u", (unsigned)f->rank.rank);
    return vp_str_of(room);
}

/* Assigns a file to the host in its name. A first half without a host name is the run's only
 * machine. */
static int place_named(hosts *h, uint32_t i)
{
    const cat_file *f = &h->out->files[i];
    char room[16];
    vp_str host = stated_host(h->out, f, room, sizeof room);
    if (!host.n)
        host = rd_host_of(vp_str_of(f->name));
    if (!host.n && file_role(f) == RD_FIRST_HALF)
        host = session_short_name(h->out);
    if (!host.n)
        return 0;
    uint32_t known = host_named(h, host);
    if (known == NO_HOST)
        return add_host(h, host, i);
    attach_host_file(h, known, i);
    return 0;
}

static bool is_perfetto_copy(const cat_file *f)
{
    return vp_str_starts(vp_str_of(f->name), VP_STR("perfetto_trace."));
}

/* Assigns files without a host: to the only host, or to a new one if there are no others. */
static int place_unnamed(hosts *h, uint32_t i)
{
    const cat_file *f = &h->out->files[i];
    bool copy = is_perfetto_copy(f);
    if (f->host != NO_HOST)
        return 0;
    if (h->first_halves == 1 || (copy && h->out->host_count == 1)) {
        attach_host_file(h, 0, i);
        return 0;
    }
    if (h->first_halves || (copy && h->out->host_count))
        return 0;
    vp_str name = session_short_name(h->out);
    bool taken = host_named(h, name) != NO_HOST;
    return add_host(h, taken ? vp_str_of(f->name) : name, i);
}

/* Ignores an unfinished recording of a host that has files, because they were made from it. */
static int place_unfinished(hosts *h, uint32_t i)
{
    vp_str name = rd_host_of(vp_str_of(h->out->files[i].name));
    if (!name.n)
        name = session_short_name(h->out);
    return host_named(h, name) != NO_HOST ? 0 : add_host(h, name, i);
}

static int place_session_files(hosts *h, size_t timelines, size_t unfinished)
{
    for (uint32_t i = 0; i < timelines; i++)
        if (file_role(&h->out->files[i]) == RD_FIRST_HALF)
            VP_TRY(place_named(h, i));
    h->first_halves = h->out->host_count;
    for (uint32_t i = 0; i < timelines; i++)
        if (file_role(&h->out->files[i]) != RD_FIRST_HALF)
            VP_TRY(place_named(h, i));
    for (uint32_t i = 0; i < timelines; i++)
        if (!is_perfetto_copy(&h->out->files[i]))
            VP_TRY(place_unnamed(h, i));
    for (uint32_t i = 0; i < timelines; i++)
        VP_TRY(place_unnamed(h, i));
    for (size_t i = timelines; i < timelines + unfinished; i++)
        VP_TRY(place_unfinished(h, (uint32_t)i));
    return 0;
}

static int natural_order(const void *pa, const void *pb)
{
    return strverscmp(((const cat_host *)pa)->name, ((const cat_host *)pb)->name);
}

/* Sorts worker2 before worker10; the files' indices are updated. */
static int sort_hosts(cat_session *out)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *by_primary = vp_calloc(out->file_count, sizeof *by_primary);
    VP_CLEANUP(vp_free_ptr) uint32_t *primaries = vp_calloc(out->host_count, sizeof *primaries);
    if (!by_primary || !primaries)
        return no_memory();
    for (size_t i = 0; i < out->host_count; i++)
        primaries[i] = out->hosts[i].primary;
    qsort(out->hosts, out->host_count, sizeof *out->hosts, natural_order);
    for (uint32_t i = 0; i < out->host_count; i++)
        by_primary[out->hosts[i].primary] = i;
    for (size_t i = 0; i < out->file_count; i++)
        if (out->files[i].host != NO_HOST)
            out->files[i].host = by_primary[primaries[out->files[i].host]];
    return 0;
}

static int make_hosts(cat_scan *s, cat_session *out, size_t timelines, size_t unfinished)
{
    hosts h = {.scan = s, .out = out};
    out->hosts = vp_arena_alloc(&s->c->arena, (timelines + unfinished) * sizeof *out->hosts);
    if (!out->hosts)
        return no_memory();
    vp_map_init(&h.by_name);
    int rc = place_session_files(&h, timelines, unfinished);
    vp_map_free(&h.by_name);
    VP_TRY(rc);
    return out->host_count > 1 ? sort_hosts(out) : 0;
}

static void judge_session(cat_session *out, const cat_dir *d)
{
    const cat_file *first = out->file_count ? out->files : NULL;
    out->kind = rd_formats[first ? first->kind.format : RD_UNKNOWN].session;
    if (!first) {
        out->status = CAT_EMPTY;
        out->why = d->caches ? "only caches of XProf; the trace file is missing"
                             : "run directory without a trace file";
    } else if (file_role(first) == RD_UNFINISHED) {
        out->status = CAT_UNFINISHED;
        out->why = "the program was killed, is still running, or ran out of disk space";
    } else if (file_role(first) == RD_REST) {
        out->status = CAT_UNREADABLE;
        out->why = first->why;
    } else {
        out->why = first->cut;
    }
}

static void sum_up_session(cat_session *out)
{
    for (size_t i = 0; i < out->file_count; i++) {
        const cat_file *f = &out->files[i];
        if (f->mtime_ns > out->newest_mtime_ns)
            out->newest_mtime_ns = f->mtime_ns;
        if (f->bytes > 0 && __builtin_add_overflow(out->bytes, f->bytes, &out->bytes))
            out->bytes = INT64_MAX; /* sparse files can claim any size */
        out->world = f->rank.world > out->world ? f->rank.world : out->world;
    }
    if (!out->time_from_name)
        out->captured_unix_ns = out->newest_mtime_ns;
}

int cat_session_fill(cat_scan *s, cat_session *out, const cat_dir *d, const cat_found *const *files,
                     size_t n)
{
    size_t timelines = 0, unfinished = 0;
    if (n)
        VP_TRY(copy_files(s, out, d, files, n));
    while (timelines < n && file_role(&out->files[timelines]) <= RD_ALONE)
        timelines++;
    while (timelines + unfinished < n &&
           file_role(&out->files[timelines + unfinished]) == RD_UNFINISHED)
        unfinished++;
    if (timelines + unfinished)
        VP_TRY(make_hosts(s, out, timelines, unfinished));
    judge_session(out, d);
    sum_up_session(out);
    return 0;
}
