/* Reads the output of rep_json with jansson, because reports are small. Two of its limits matter.
 * It refuses integers beyond 2^63-1, which XLA's program ids may be, so they are quoted first, and
 * read as text. And it nests at most 2,048 levels, which trees of scopes (64 levels) never need.
 * The file is untrusted: types, ranges, references and sums are checked. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/data/fields.h"

/* ---- Text ---- */

static bool is_beyond_int64(vp_str digits)
{
    static const char most[] = "9223372036854775807";
    size_t n = sizeof most - 1;
    return digits.n > n || (digits.n == n && memcmp(digits.p, most, n) > 0);
}

static size_t json_string_end(vp_str s, size_t at)
{
    for (at++; at < s.n && s.p[at] != '"'; at++)
        at += s.p[at] == '\\';
    return at + 1 < s.n ? at + 1 : s.n;
}

static bool in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The same text with unsigned integers beyond 2^63-1 in quotes. */
static int quote_wide(vp_buf *out, vp_str s)
{
    size_t at = 0, plain = 0;
    while (at < s.n) {
        size_t end = at + 1;
        if (s.p[at] == '"')
            end = json_string_end(s, at);
        else if (in_number(s.p[at]))
            for (; end < s.n && in_number(s.p[end]);)
                end++;
        vp_str token = {s.p + at, end - at}, digits = token;
        uint64_t v;
        if (s.p[at] != '"' && is_beyond_int64(digits) && vp_str_to_u64(digits, &v)) {
            vp_buf_put(out, s.p + plain, at - plain);
            vp_json_quote(out, token);
            plain = end;
        }
        at = end;
    }
    return vp_buf_put(out, s.p + plain, s.n - plain);
}

static int parse_report_json(json_t **out, vp_str text)
{
    json_error_t e;
    vp_buf b;
    vp_mem_budget budget = {0};
    vp_mem_budget *before = vp_mem_enter(&budget);
    vp_buf_init(&b, VP_REPORT_READ_MAX + (VP_REPORT_READ_MAX >> 2));
    int rc = quote_wide(&b, text);
    *out = rc < 0 ? NULL : json_loadb(b.p ? b.p : "", b.n, JSON_REJECT_DUPLICATES, &e);
    vp_buf_free(&b);
    if (rc >= 0 && !*out && !e.text[0]) /* jansson 2.14 sets the error in all other cases */
        rc = vp_mem_explain(vp_no_memory());
    vp_mem_enter(before);
    if (rc < 0)
        return rc;
    if (!*out)
        return vp_fail_at(vp_fail(VP_ECORRUPT, "invalid JSON: %.200s", e.text), NULL, -1,
                          e.position);
    return 0;
}

/* ---- Scopes ---- */

typedef struct level {
    const json_t *list;
    size_t next;
    uint32_t parent;
} level;

#define DEPTH_MAX 256u

static int get_report_scope(rep_json_in *in, vp_scope *s, const json_t *v, size_t at)
{
    rep_place list = {NULL, "scopes", SIZE_MAX}, place = {&list, "", at};
    return rep_get_fields(in, rep_scope_fields, v, s, &place);
}

/* Reads the tree in pre-order, without recursion on input; *v grows. */
static int walk_scopes(rep_json_in *in, vp_scope **v, size_t *n, const json_t *list)
{
    level stack[DEPTH_MAX];
    uint32_t depth = 0;
    size_t cap = 0;
    stack[0] = (level){list, 0, UINT32_MAX};
    for (;;) {
        level *l = &stack[depth];
        if (l->next == json_array_size(l->list)) {
            if (!depth)
                return 0;
            depth--;
            continue;
        }
        const json_t *object = json_array_get(l->list, l->next++);
        const json_t *children = json_object_get(object, "children");
        vp_scope s = {0};
        VP_TRY(get_report_scope(in, &s, object, *n));
        s.depth = depth;
        s.parent = l->parent;
        VP_TRY(vp_grow(v, &cap, *n + 1, sizeof s, UINT32_MAX - 1));
        (*v)[(*n)++] = s;
        if (!json_array_size(children))
            continue;
        if (++depth == DEPTH_MAX)
            return vp_fail(VP_ECORRUPT, "scopes nest more than %u deep", DEPTH_MAX);
        stack[depth] = (level){children, 0, (uint32_t)(*n - 1)};
    }
}

static int get_scopes(rep_json_in *in, vp_report *r, const json_t *list)
{
    VP_CLEANUP(vp_free_ptr) vp_scope *v = NULL;
    size_t n = 0;
    VP_TRY(walk_scopes(in, &v, &n, list));
    if (!n)
        return 0;
    r->scopes = vp_arena_alloc(in->arena, n * sizeof *v);
    VP_NEED(r->scopes);
    memcpy(r->scopes, v, n * sizeof *v);
    r->scope_count = n;
    return 0;
}

/* ---- Checks ---- */

/* Sums over the children of a node, for each value that is summed over subtrees. */
enum { TREE_FIGURES = 6 };

static void tree_figures(int64_t out[TREE_FIGURES], const vp_scope *s)
{
    out[0] = s->total_ps;
    out[1] = s->calls;
    out[2] = s->idle_before_ps;
    out[3] = s->backward_ps;
    out[4] = s->remat_ps;
    out[5] = s->bytes < 0 ? 0 : s->bytes;
}

static int bad_scope(size_t i, const char *what)
{
    return vp_fail(VP_ECORRUPT, "scopes: node %zu in pre-order %s", i, what);
}

/* Each node must have at least the sum of its children, and the roots at most the total. rest[i]:
 * the part of node i that no child has taken yet; the last entry is that of the roots. */
static int check_tree(const vp_report *r, int64_t (*rest)[TREE_FIGURES])
{
    for (size_t k = 0; k < TREE_FIGURES; k++)
        rest[r->scope_count][k] = VP_TIME_MAX_PS;
    for (size_t i = 0; i < r->scope_count; i++) {
        const vp_scope *s = &r->scopes[i];
        int64_t *above = rest[s->parent == UINT32_MAX ? r->scope_count : s->parent];
        tree_figures(rest[i], s);
        for (size_t k = 0; k < TREE_FIGURES; k++) {
            if (rest[i][k] > above[k])
                return bad_scope(i, "is larger than its parent");
            above[k] -= rest[i][k];
        }
        if (s->backward_ps > s->total_ps || s->remat_ps > s->total_ps)
            return bad_scope(i, "has a backward part longer than its total");
    }
    for (size_t i = 0; i < r->scope_count; i++)
        if (rest[i][0] != r->scopes[i].self_ps)
            return bad_scope(i, "is not the sum of its parts");
    return 0;
}

static int check_scopes(const vp_report *r)
{
    VP_CLEANUP(vp_free_ptr)
    int64_t(*rest)[TREE_FIGURES] = vp_calloc(r->scope_count + 1, sizeof *rest);
    return rest ? check_tree(r, rest) : vp_no_memory();
}

/* Checks the identity of every breakdown: sums of non-negative parts. */
static int check_breakdown(const vp_breakdown *b, const char *what, size_t i)
{
    __int128 parts = (__int128)b->compute_ps + b->exposed_comm_ps + b->exposed_copy_ps + b->idle_ps;
    if (b->compute_ps < 0 || b->exposed_comm_ps < 0 || b->exposed_copy_ps < 0 || b->idle_ps < 0 ||
        parts != b->window_ps)
        return vp_fail(VP_ECORRUPT,
                       "%s[%zu]: compute, communication, copies and idle do not add up to the "
                       "window",
                       what, i);
    return 0;
}

static int missing_device(const char *what, size_t i)
{
    return vp_fail(VP_ECORRUPT, "%s[%zu] refers to no device", what, i);
}

static int check_report_devices(const vp_report *r)
{
    for (size_t i = 0; i < r->device_count; i++) {
        VP_TRY(check_breakdown(&r->devices[i].breakdown, "devices", i));
        bool known = false;
        for (size_t k = 0; k < r->host_count && !known; k++)
            known = r->hosts[k] && r->devices[i].host && !strcmp(r->hosts[k], r->devices[i].host);
        if (!known)
            return vp_fail(VP_ECORRUPT, "devices[%zu] is on a host that the run does not have", i);
    }
    for (size_t i = 0; i < r->host_count; i++)
        if (!r->hosts[i])
            return vp_fail(VP_ECORRUPT, "session.hosts[%zu] is not a string", i);
    return 0;
}

static int check_rows(const vp_report *r)
{
    for (size_t i = 0; i < r->op_count; i++)
        if (r->ops[i].device == VP_NO_DEVICE)
            return missing_device("ops", i);
    for (size_t i = 0; i < r->gap_count; i++)
        if (r->gaps[i].device == VP_NO_DEVICE)
            return missing_device("gaps", i);
    for (size_t i = 0; i < r->idle_label_count; i++)
        if (r->idle_labels[i].device == VP_NO_DEVICE)
            return missing_device("idle_labels", i);
    for (size_t i = 0; i < r->collective_count; i++)
        if (r->collectives[i].device == VP_NO_DEVICE)
            return missing_device("collectives", i);
    for (size_t i = 0; i < r->steps.count; i++)
        for (size_t k = 0; k < r->steps.list[i].device_count; k++) {
            if (r->steps.list[i].devices[k].device == VP_NO_DEVICE)
                return missing_device("steps.list", i);
            VP_TRY(check_breakdown(&r->steps.list[i].devices[k].breakdown, "steps.list", i));
        }
    return 0;
}

/* ---- The complete report ---- */

static int check_schema(const json_t *root)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strncmp(schema, "view_profile.", 13) != 0)
        return vp_fail(VP_EUNSUPPORTED, "JSON, but not a view_profile report");
    if (strcmp(schema, "view_profile.report/1") != 0)
        return vp_fail(VP_EUNSUPPORTED,
                       "unsupported report version %.60s (expected view_profile.report/1)", schema);
    if (!json_is_true(json_object_get(root, "complete")))
        return vp_fail(VP_EUNSUPPORTED,
                       "an incomplete report (--top, --device, or written by `top`): write it with "
                       "`view_profile report --format json`");
    return 0;
}

static int get_report_fields(rep_json_in *in, vp_report *r, const json_t *root)
{
    VP_TRY(rep_get_fields(in, rep_head_fields, root, r, NULL));
    VP_TRY(rep_get_fields(in, rep_devices_fields, root, r, NULL));
    in->devices = r->devices;
    in->device_count = r->device_count;
    VP_TRY(rep_get_fields(in, rep_ops_fields, root, r, NULL));
    in->in_tree = true;
    VP_TRY(get_scopes(in, r, json_object_get(root, "scopes")));
    in->in_tree = false;
    VP_TRY(rep_get_fields(in, rep_tail_fields, root, r, NULL));
    VP_TRY(rep_get_fields(in, rep_memory_fields, root, r, NULL));
    VP_TRY(rep_get_fields(in, rep_quality_fields, root, r, NULL));
    VP_TRY(check_report_devices(r));
    VP_TRY(check_scopes(r));
    return check_rows(r);
}

static int fill_read_report(vp_report *r, const json_t *root)
{
    rep_json_in in = {.arena = r->owner_};
    VP_TRY(check_schema(root));
    int rc = get_report_fields(&in, r, root);
    vp_map_free(&in.sum_at);
    VP_TRY(rc);
    return report_finish(r);
}

int rep_read(vp_report **out, vp_str text)
{
    json_t *root;
    vp_report *r;
    VP_TRY(parse_report_json(&root, text));
    int rc = report_new(&r);
    if (rc < 0) {
        json_decref(root);
        return rc;
    }
    rc = fill_read_report(r, root);
    json_decref(root);
    if (rc < 0) {
        analyze_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

static int read_fd_to_buf(vp_buf *b, int fd)
{
    static const size_t step = 1u << 18;
    VP_CLEANUP(vp_free_ptr) char *piece = vp_malloc(step);
    VP_NEED(piece);
    for (;;) {
        ssize_t n = read(fd, piece, step);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return vp_fail(VP_EIO, "cannot be read: %s", strerror(errno));
        if (!n)
            return 0;
        VP_TRY(vp_buf_put(b, piece, (size_t)n));
    }
}

static int open_file(int *fd, const char *path)
{
    bool is_dir;
    vp_file_id id;
    if (!strcmp(path, "-")) {
        *fd = dup(STDIN_FILENO);
        return *fd < 0 ? vp_fail(VP_EIO, "no standard input: %s", strerror(errno)) : 0;
    }
    VP_TRY(vp_fs_open_user(path, fd, &is_dir, &id));
    if (!is_dir)
        return 0;
    vp_fs_close(fd);
    return vp_fail(VP_EUNSUPPORTED, "a directory, not a report");
}

int rep_read_text(vp_buf *b, const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_TRY(open_file(&fd, path));
    return read_fd_to_buf(b, fd);
}

int rep_read_file(vp_report **out, const char *path)
{
    vp_buf b;
    vp_buf_init(&b, VP_REPORT_READ_MAX);
    int rc = rep_read_text(&b, path);
    if (rc >= 0)
        rc = rep_read(out, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc < 0 ? vp_fail_at(rc, path, -1, -1) : 0;
}

bool rep_starts_with(const char *path, const char *part)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char head[256];
    size_t got = 0;
    bool is_dir;
    vp_file_id id;
    if (vp_fs_open_user(path, &fd, &is_dir, &id) < 0 || is_dir ||
        vp_fs_pread(fd, head, sizeof head, 0, &got) < 0 || !got || head[0] != '{')
        return false;
    vp_str s = {head, got};
    return vp_str_find(s, vp_str_of(part)) < s.n;
}

bool rep_is_report(const char *path)
{
    return rep_starts_with(path, "\"view_profile.report/");
}
