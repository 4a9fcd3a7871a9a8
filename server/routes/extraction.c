/* `/api/v1/extract`: unpacks archives and .gz files, so that later reads need no unpacking. POST
 * starts it, GET returns its progress. The destination is a private temporary directory; no request
 * or response contains a path. One extraction at a time. */
#include "server/routes/extraction.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "server/routes/routes.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/system/temp_tree.h"
#include "trace/base/thread.h"
#include "trace/model/unpack/extract.h"

/* Maximum number of skipped files that are listed with a reason; further ones are only counted. */
#define LEFT_OUT_MAX 50u
#define ANSWER_BYTES_MAX (16u << 20)
/* In ms: maximum wait for the first scan. Before it ends, there seems to be nothing to unpack. */
#define INDEX_WAIT_MS 5000

typedef enum run_state { RUN_IDLE, RUN_RUNNING, RUN_DONE, RUN_STOPPED, RUN_FAILED } run_state;

typedef struct left_out {
    char *path, *why;
} left_out;

typedef struct extraction {
    pthread_mutex_t lock; /* protects everything except the catalog that the thread uses */
    vp_temp_tree tree;
    unpack *to; /* created by the first extraction */
    pthread_t thread;
    bool has_thread;
    _Atomic bool cancelled;
    run_state state;
    char *session; /* id, NULL for all */
    extract_counts counts;
    left_out left[LEFT_OUT_MAX];
    size_t left_count;
    vp_error error;
} extraction;

/* The work of the thread, which frees it. */
typedef struct job {
    extraction *x;
    catalog *c;
    const cat_session *only;
} job;

/* ---- What others read ------------------------------------------------------------------------ */

static int open_extracted_copy(void *ctx, const cat_file *f, int *fd)
{
    extraction *x = ctx;
    unpack_source src = extract_source(f);
    pthread_mutex_lock(&x->lock);
    unpack *to = x->to;
    pthread_mutex_unlock(&x->lock);
    return to ? unpack_open_copy(to, &src, fd) : VP_ENOTFOUND;
}

/* ---- The thread ------------------------------------------------------------------------------ */

static int extraction_on_progress(void *ctx, const extract_counts *c)
{
    extraction *x = ctx;
    pthread_mutex_lock(&x->lock);
    x->counts = *c;
    pthread_mutex_unlock(&x->lock);
    return atomic_load(&x->cancelled);
}

static void extraction_on_left_out(void *ctx, const cat_file *f)
{
    extraction *x = ctx;
    pthread_mutex_lock(&x->lock);
    if (x->left_count < LEFT_OUT_MAX) {
        left_out l = {vp_strdup(f->path), vp_strdup(vp_error_last()->message)};
        x->left[x->left_count++] = l; /* NULL is written as null */
    }
    pthread_mutex_unlock(&x->lock);
}

/* The target directory of the thread, created by the first extraction. */
static int open_extraction_target(extraction *x, const catalog *c)
{
    unpack *to;
    if (x->to)
        return 0;
    if (!x->tree.path[0])
        VP_TRY(vp_temp_tree_make(&x->tree, "view_profile_extracted"));
    char path[VP_PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/files", x->tree.path);
    VP_TRY(unpack_open(&to, path, catalog_path(c)));
    pthread_mutex_lock(&x->lock);
    x->to = to;
    pthread_mutex_unlock(&x->lock);
    return 0;
}

static void *extraction_thread(void *arg)
{
    job *j = arg;
    extraction *x = j->x;
    extract_counts n = {.found = 0};
    extract_options how = {.only = j->only,
                           .packed_only = true,
                           .progress = extraction_on_progress,
                           .left_out = extraction_on_left_out,
                           .ctx = x};
    int rc = open_extraction_target(x, j->c);
    if (rc == 0)
        rc = extract_run(&n, x->to, j->c, &how);
    pthread_mutex_lock(&x->lock);
    if (rc < 0)
        x->error = *vp_error_last();
    else
        x->counts = n;
    x->state = rc == VP_ECANCELLED ? RUN_STOPPED : rc < 0 ? RUN_FAILED : RUN_DONE;
    pthread_mutex_unlock(&x->lock);
    catalog_free(j->c);
    vp_free(j);
    return NULL;
}

/* ---- The site's part ------------------------------------------------------------------------- */

int extraction_open(site *s, cat_copies *copies)
{
    extraction *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    pthread_mutex_init(&x->lock, NULL);
    x->tree = (vp_temp_tree)VP_TEMP_TREE_NONE;
    s->extraction = x;
    *copies = (cat_copies){open_extracted_copy, x};
    return 0;
}

void extraction_cancel(site *s)
{
    extraction *x = s->extraction;
    atomic_store(&x->cancelled, true);
}

/* Called with the lock held, or without other threads. */
static void forget_last_extraction(extraction *x)
{
    for (size_t i = 0; i < x->left_count; i++) {
        vp_free(x->left[i].path);
        vp_free(x->left[i].why);
    }
    x->left_count = 0;
    x->counts = (extract_counts){.found = 0};
    x->error = (vp_error){.code = 0};
    vp_free(x->session);
    x->session = NULL;
}

void extraction_close(site *s)
{
    extraction *x = s->extraction;
    if (!x)
        return;
    atomic_store(&x->cancelled, true);
    if (x->has_thread)
        pthread_join(x->thread, NULL);
    unpack_close(x->to);
    vp_temp_tree_free(&x->tree);
    forget_last_extraction(x);
    pthread_mutex_destroy(&x->lock);
    vp_free(x);
    s->extraction = NULL;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void put_counts(vp_json *j, const extract_counts *n)
{
    vp_json_key(j, "files");
    vp_json_begin_object(j);
    vp_json_ki64(j, "found", (int64_t)n->found);
    vp_json_ki64(j, "made", (int64_t)n->made);
    vp_json_ki64(j, "kept", (int64_t)n->kept);
    vp_json_ki64(j, "left_out", (int64_t)n->left_out);
    vp_json_end_object(j);
    vp_json_key(j, "bytes");
    vp_json_begin_object(j);
    vp_json_ki64(j, "done", n->done);
    vp_json_ki64(j, "total", n->total);
    vp_json_end_object(j);
}

static void put_left_out(vp_json *j, const extraction *x)
{
    vp_json_key(j, "left_out");
    vp_json_begin_array(j);
    for (size_t i = 0; i < x->left_count; i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "path", x->left[i].path);
        vp_json_kcstr(j, "why", x->left[i].why);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static bool is_unpacked(unpack *to, const cat_session *s)
{
    size_t packed = 0;
    for (size_t i = 0; i < s->file_count; i++) {
        const cat_file *f = &s->files[i];
        unpack_source src = extract_source(f);
        if (!extract_is_timeline(f) || !extract_is_packed(f))
            continue;
        if (!unpack_has(to, &src))
            return false;
        packed++;
    }
    return packed > 0;
}

static void put_unpacked(vp_json *j, unpack *to, const catalog *c)
{
    vp_json_key(j, "unpacked");
    vp_json_begin_array(j);
    for (size_t i = 0; to && i < catalog_count(c); i++)
        if (is_unpacked(to, catalog_get(c, i)))
            vp_json_cstr(j, catalog_get(c, i)->id);
    vp_json_end_array(j);
}

static int send_state(http_req *rq, extraction *x, int status, const catalog *c)
{
    static const char *const names[] = {"idle", "running", "done", "stopped", "failed"};
    vp_buf b;
    vp_json j;
    vp_buf_init(&b, ANSWER_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.extract/1");
    pthread_mutex_lock(&x->lock);
    unpack *to = x->to;
    vp_json_kcstr(&j, "state", names[x->state]);
    vp_json_kcstr(&j, "session", x->session);
    put_counts(&j, &x->counts);
    put_left_out(&j, x);
    vp_json_kcstr(&j, "error", x->state == RUN_FAILED ? x->error.message : NULL);
    pthread_mutex_unlock(&x->lock);
    put_unpacked(&j, to, c);
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, status, &b);
}

/* ---- POST ------------------------------------------------------------------------------------ */

/* Parses {} or {"session": ID}; the caller frees *id. */
static int read_extract_body(char **id, vp_str body)
{
    json_t *root = json_loadb(body.p ? body.p : "", body.n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *session = json_object_get(root, "session");
    size_t known = session ? 1 : 0;
    int rc = 0;
    if (!json_is_object(root) || json_object_size(root) != known ||
        (session && !json_is_string(session)))
        rc = vp_fail(VP_EARG, "the body must be {} or {\"session\": \"ID\"}");
    else if (session && !(*id = vp_strdup(json_string_value(session))))
        rc = vp_no_memory();
    json_decref(root);
    return rc;
}

/* Called with the lock held while no extraction is running. Takes ownership of id. */
static int begin_extraction(extraction *x, catalog *c, const cat_session *only, char *id)
{
    job *j = vp_calloc(1, sizeof *j);
    if (x->has_thread)
        pthread_join(x->thread, NULL); /* it has finished */
    x->has_thread = false;
    forget_last_extraction(x);
    x->session = id;
    VP_NEED(j);
    *j = (job){.x = x, .c = catalog_ref(c), .only = only};
    extract_count(&x->counts, c, &(extract_options){.only = only, .packed_only = true});
    x->state = RUN_RUNNING;
    int rc = vp_thread_start(&x->thread, extraction_thread, j);
    x->has_thread = rc == 0;
    if (rc < 0) {
        x->state = RUN_IDLE;
        catalog_free(j->c);
        vp_free(j);
    }
    return rc;
}

static int post_extraction(http_req *rq, extraction *x, catalog *c)
{
    VP_CLEANUP(vp_free_ptr) char *id = NULL;
    const cat_session *only = NULL;
    VP_TRY(read_extract_body(&id, http_body(rq)));
    if (id && !(only = catalog_by_id(c, id)))
        return vp_fail(VP_ENOTFOUND, "no such run");
    pthread_mutex_lock(&x->lock);
    bool busy = x->state == RUN_RUNNING;
    int rc = 0;
    if (!busy) {
        rc = begin_extraction(x, c, only, id);
        id = NULL;
    }
    pthread_mutex_unlock(&x->lock);
    return rc < 0 ? rc : send_state(rq, x, busy ? 409 : 202, c);
}

int route_extract(http_req *rq)
{
    extraction *x = site_of(rq)->extraction;
    if (http_is_post(rq) && store_wait(site_of(rq)->store, INDEX_WAIT_MS) > 0)
        return vp_fail(VP_EBUSY, "the directory is still being indexed; try again");
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(site_of(rq)->store);
    return http_is_post(rq) ? post_extraction(rq, x, c) : send_state(rq, x, 200, c);
}
