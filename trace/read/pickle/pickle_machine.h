/* Interpreter of Python's pickles, limited to plain values: nothing is imported, called or built.
 * It reports values to a client container by container and stores no tree: the client gets a dict
 * once, when all of its items are read, and then only the client's result is kept. Memory: four
 * bytes for each memo entry, and the stack.
 *
 * A container gets a role when it is opened, from its parent on the stack: it is the value of a key
 * in a dict of some role, or an item of a list of some role. The root has PK_ROLE_ROOT; a container
 * with PK_ROLE_NONE is skipped with its content. */
#ifndef VP_READ_PICKLE_MACHINE_H
#define VP_READ_PICKLE_MACHINE_H

#include <stdbool.h>

#include "trace/base/arena.h"
#include "trace/read/bytes/byte_stream.h"

typedef enum pk_type {
    PK_A_OTHER,  /* unused values; `id` is the number of consecutive ones */
    PK_A_MARK,   /* start of a batch of items */
    PK_A_NUMBER, /* v */
    PK_A_TEXT,   /* id: interned; truncated to PK_TEXT_MAX bytes */
    PK_A_RECORD, /* id: the client's result for a dict */
    PK_A_FOLDED, /* id: the client's result for a list */
    PK_A_LIST,   /* still on the stack, so items may follow; id: the client's */
    PK_A_DICT,
} pk_type;

typedef struct pk_value {
    uint8_t type; /* pk_type */
    uint8_t role;
    uint32_t id;
    int64_t v; /* a number; for a list or dict its memo entry, -1: none */
} pk_value;

enum { PK_ROLE_NONE, PK_ROLE_ROOT };

#define PK_TEXT_MAX 1024u

typedef struct pk_client {
    void *ctx;
    const char *const *words; /* strings with the ids 1, 2, 3, … */
    size_t word_count;
    uint8_t record; /* role of dicts that later values may reference */
    uint8_t folded; /* role of lists that later values may reference */
    /* The role of a container, given its parent's role and its key (0: item of a list); dict: dict
     * or list. */
    uint8_t (*role)(uint8_t parent, vp_sid key, bool dict);
    /* A container with a role begins, as item `index` of its list. *id is stored with it. */
    int (*open)(void *ctx, uint8_t role, uint32_t index, uint32_t *id);
    /* The items of a dict, n pairs of key and value. *id: the client's result. */
    int (*dict)(void *ctx, uint8_t role, const pk_value *pairs, size_t n, uint32_t *id);
    /* One more item of a list; *id is the list's. */
    int (*item)(void *ctx, uint8_t role, uint32_t *id, const pk_value *item);
} pk_client;

typedef struct pk_machine pk_machine;

int pk_new(pk_machine **out, const pk_client *client);
void pk_free(pk_machine *m);
/* Reads one pickle, whose root must be a dict. 1: complete. 0: truncated at pk_at. VP_ECORRUPT:
 * malformed; VP_EUNSUPPORTED: contains more than plain values; VP_ELIMIT: too deep or too large;
 * all with the byte. A negative result of the client ends it, too. */
int pk_run(pk_machine *m, rd_stream *in);
int64_t pk_at(const pk_machine *m);
/* Valid as long as the machine. */
vp_str pk_text(const pk_machine *m, vp_sid id);

#endif
