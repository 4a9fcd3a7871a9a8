#include "server/watch/watch_schedule.h"

#include "trace/base/limits.h"

#define DOUBLED_MOST 3u
#define GONE_MOST_MS 600000

int64_t watch_wait_ms(const watch_pace *p, uint32_t random)
{
    int64_t wait = p->every_ms;
    if (p->busy) {
        wait = p->every_ms / 4 > p->duration_ms ? p->every_ms / 4 : p->duration_ms;
        wait = wait < p->every_ms ? wait : p->every_ms;
    } else if (p->in_a_row > 1) {
        unsigned doubled = p->in_a_row - 1 < DOUBLED_MOST ? p->in_a_row - 1 : DOUBLED_MOST;
        int64_t most = p->every_ms > GONE_MOST_MS ? p->every_ms : GONE_MOST_MS;
        wait = p->every_ms < most >> doubled ? p->every_ms << doubled : most;
    }
    /* From -10 % to +10 %. */
    return wait + (int64_t)((__int128)wait * ((int64_t)random - INT64_C(0x80000000)) / 10 /
                            INT64_C(0x80000000));
}

int64_t watch_due_ms(const watch_pace *p, uint32_t random, int64_t started_ms, int64_t now_ms)
{
    int64_t due = started_ms + watch_wait_ms(p, random);
    return due > now_ms ? due : now_ms;
}
