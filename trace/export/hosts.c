#include "trace/export/hosts.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* ---- Names ---------------------------------------------------------------------------------- */

/* The name, with a number appended from the second host of that name on. */
static char *numbered_host_name(const char *name, uint32_t number)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    size_t n;
    vp_buf_init(&b, 4 * strlen(name) + 64);
    vp_put_escaped(&b, vp_str_of(name));
    if (!b.n)
        vp_buf_puts(&b, "host");
    if (number > 1)
        vp_buf_printf(&b, " (%u)", number);
    return vp_buf_take(&b, &n);
}

static int name_export_host(ex_host *h, vp_map *taken)
{
    for (uint32_t number = 1;; number++) {
        h->name = numbered_host_name(h->host->name, number);
        VP_NEED(h->name);
        uint64_t key = vp_hash(h->name, strlen(h->name), 0);
        if (vp_map_get(taken, key) == VP_MAP_NONE)
            return vp_map_set(taken, key, 0);
        vp_free(h->name);
        h->name = NULL;
    }
}

int ex_hosts_make(ex_hosts *out, const catalog *c, const cat_session *s, const host_clock *clocks)
{
    VP_CLEANUP(vp_map_free) vp_map taken;
    vp_map_init(&taken);
    *out = (ex_hosts){.c = c, .s = s, .count = s->host_count};
    out->hosts = vp_calloc(s->host_count + 1, sizeof *out->hosts);
    VP_NEED(out->hosts);
    for (size_t i = 0; i < s->host_count; i++) {
        out->hosts[i].host = &s->hosts[i];
        if (clocks)
            out->hosts[i].clock = clocks[i];
        VP_TRY(name_export_host(&out->hosts[i], &taken));
    }
    return 0;
}

void ex_hosts_free(ex_hosts *h)
{
    for (size_t i = 0; h->hosts && i < h->count; i++)
        vp_free(h->hosts[i].name);
    vp_free(h->hosts);
    *h = (ex_hosts){0};
}

/* ---- Timelines ------------------------------------------------------------------------------ */

/* Errors of the file, as opposed to those of the machine. */
static bool is_its_own(int rc)
{
    return rc == VP_ECORRUPT || rc == VP_EUNSUPPORTED || rc == VP_EEMPTY || rc == VP_ELIMIT;
}

int ex_hosts_open(rd_stream **out, ex_host *h, ex_hosts *all, ex_form form, const pft_host *as)
{
    all->pick = (ex_pick){.host = as};
    if (all->prepare)
        all->prepare(all->ctx, h->host, &all->pick);
    int rc = ex_open_host(out, &h->file, form, all->c, all->s, h->host, &all->pick);
    if (rc >= 0) {
        if (__builtin_sub_overflow(h->clock.shift_ns, all->pick.moved_ns, &h->shift_ns))
            h->clock = (host_clock){0};
        return 1;
    }
    if (!is_its_own(rc))
        return rc;
    h->left_out = *vp_error_last();
    return 0;
}

int ex_hosts_close(rd_stream **s, ex_host *h, const ex_hosts *all)
{
    h->damage = (*s)->damage;
    h->missing_events = all->pick.missing_events;
    h->missing_flows = all->pick.missing_flows;
    rd_stream_close(s);
    *s = NULL;
    return catalog_check(all->c, h->file);
}

int64_t ex_hosts_bytes(const ex_hosts *h)
{
    int64_t sum = 0;
    for (size_t i = 0; i < h->count; i++) {
        int64_t bytes = h->s->files[h->s->hosts[i].primary].bytes;
        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
            return -1;
    }
    return sum;
}

/* ---- Clocks --------------------------------------------------------------------------------- */

/* In ms with three decimals, rounded half away from zero. */
static void put_signed_ms(vp_buf *b, int64_t ps, bool sign)
{
    uint64_t us = ((ps < 0 ? 0 - (uint64_t)ps : (uint64_t)ps) + 500000) / 1000000;
    if (sign)
        vp_buf_puts(b, ps < 0 && us ? "-" : "+");
    vp_buf_printf(b, "%llu.%03u ms", (unsigned long long)(us / 1000), (unsigned)(us % 1000));
}

static void put_aligned(vp_buf *b, const host_clock *c)
{
    if (c->wall)
        put_signed_ms(b, c->offset_ps, true);
    else
        vp_buf_puts(b, "aligned");
    vp_buf_puts(b, " ± ");
    put_signed_ms(b, c->error_ps, false);
    vp_buf_printf(b, " by %lld common collectives", (long long)c->calls);
}

void ex_put_clock(vp_buf *b, const host_clock *c)
{
    switch (c->how) {
    case HOST_CLOCK_COLLECTIVES:
        put_aligned(b, c);
        break;
    case HOST_CLOCK_REFERENCE:
        vp_buf_puts(b, "reference clock");
        break;
    case HOST_CLOCK_WALL:
        vp_buf_puts(b, "not aligned (no common collectives); placed by the wall clock of the file");
        break;
    case HOST_CLOCK_START:
        vp_buf_puts(b, "not aligned (no common collectives, and not every file has a wall clock); "
                       "placed by its start");
        break;
    case HOST_CLOCK_UNPLACED:
        vp_buf_puts(b, "not aligned (unknown clock); placed by its start");
        break;
    }
}
