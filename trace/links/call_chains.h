/* Chains of enclosing events: for an event of a host thread the operators, modules, frames and
 * annotations around it, outermost first. Equal chains are one node, so a chain is a number. The
 * owner frees the table. */
#ifndef VP_LINKS_CALL_CHAINS_H
#define VP_LINKS_CALL_CHAINS_H

#include "trace/base/map.h"
#include "trace/model/trace.h"

#define CHAIN_NONE UINT32_MAX

typedef enum chain_class {
    CHAIN_OTHER, /* not part of a chain */
    CHAIN_OPERATOR,
    CHAIN_MODULE,
    CHAIN_FRAME,
    CHAIN_ANNOTATION,
} chain_class;

typedef struct chain_node {
    uint32_t parent; /* CHAIN_NONE: this is the outermost */
    uint32_t kind;
} chain_node;

typedef struct chain_table {
    const trace *t;
    uint8_t *class_of; /* by kind: chain_class */
    chain_node *node;
    size_t count, cap;
    vp_map at; /* parent << 32 | kind → node */
} chain_table;

/* What encloses the current event of a track while its events are visited in order. */
typedef struct chain_stack {
    struct chain_open *open;
    size_t depth, cap;
} chain_stack;

typedef struct chain_open {
    int64_t end_ps;
    uint32_t kind, node; /* node CHAIN_NONE: not made yet */
    int64_t backward;    /* sequence number of the forward op, or SINK_NO_VALUE */
} chain_open;

chain_class chain_class_of(const trace *t, const trace_kind *k);
/* operators_only: modules, frames and annotations are no part of chains. VP_ENOMEM. */
int chain_table_init(chain_table *c, const trace *t, bool operators_only);
void chain_table_free(chain_table *c);
/* The node below `parent` for an event of this kind. VP_ENOMEM, VP_ELIMIT. */
int chain_child(uint32_t *out, chain_table *c, uint32_t parent, uint32_t kind);

void chain_stack_free(chain_stack *s);
/* Moves to event i of a track: closes what ended before it. */
void chain_stack_move(chain_stack *s, int64_t start_ps);
/* Opens event i of a track if its kind belongs to chains. VP_ENOMEM. */
int chain_stack_push(chain_stack *s, const chain_table *c, const trace_track *k, size_t i);
/* The chain of everything that is open; CHAIN_NONE if nothing is. VP_ENOMEM, VP_ELIMIT. */
int chain_stack_node(uint32_t *out, chain_stack *s, chain_table *c);
/* The chain of open events from index `from` on, below the chain `root` of another event.
 * VP_ENOMEM, VP_ELIMIT. */
int chain_stack_graft(uint32_t *out, const chain_stack *s, chain_table *c, size_t from,
                      uint32_t root);

#endif
