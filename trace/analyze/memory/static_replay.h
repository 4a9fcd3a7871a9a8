/* Replays the heap simulator events of one program (docs/reference/memory-and-mfu.md#heap-replay):
 * live bytes after each event, the peak and the buffers live at it, and the lifetime of every
 * buffer. The caller frees the replay.
 *
 * A buffer that shares memory belongs to the root of its chain; the bytes of a root are live while
 * any buffer of the chain is. Events without a buffer, frees of dead buffers and circular sharing
 * are skipped and counted. */
#ifndef VP_ANALYZE_STATIC_REPLAY_H
#define VP_ANALYZE_STATIC_REPLAY_H

#include "trace/read/hlo/hlo_program.h"

#define REPLAY_NEVER UINT32_MAX

typedef struct replay_state {
    uint32_t *parent; /* by buffer: the buffer whose memory it shares; HLO_NONE: none */
    uint32_t *uses;   /* of a root */
    uint32_t *shown;  /* of a live root: the current user of the memory */
    int64_t live;     /* bytes */
    uint64_t odd;     /* events left out */
} replay_state;

/* 0 or VP_ENOMEM; freed by replay_end. */
int replay_begin(replay_state *s, const hlo_program *p);
void replay_end(replay_state *s);
/* Replays one event. Returns the root whose bytes became live (*up true) or dead, else HLO_NONE. */
uint32_t replay_step(replay_state *s, const hlo_program *p, const hlo_heap_event *e, bool *up);
/* The owner of a root's memory: the buffer itself, or the one whose memory it shares. */
uint32_t replay_root(replay_state *s, uint32_t buffer);

typedef struct heap_replay {
    uint32_t trace;         /* index into p->traces; HLO_NONE: no trace of that space */
    int64_t peak;           /* maximum of live bytes */
    uint32_t at;            /* the first event at which it is reached, within the trace */
    uint32_t *first, *last; /* by buffer: its events; REPLAY_NEVER. The last event if never freed */
    uint64_t odd;
} heap_replay;

/* Replays the trace with the most events of this color. 0 or VP_ENOMEM. */
int heap_replay_run(heap_replay *out, const hlo_program *p, int64_t color);
void heap_replay_free(heap_replay *r);

/* Computes the peak as XLA does: the largest buffer of each fixed allocation of all colors, and all
 * traces one after another. 0 or VP_ENOMEM. */
int heap_replay_xla_peak(int64_t *out, const hlo_program *p);

#endif
