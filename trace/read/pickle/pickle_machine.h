/* Python's pickle machine, as far as plain values go: nothing is imported, called or built. What it
 * makes is told to a client as it comes, container by container, and no tree is kept: a dict of
 * interest is seen once, when all of its items are there, and then only what the client made of it
 * is left. Memory: the memo's four bytes an entry, and the stack.
 *
 * A container gets a role when it is opened, from what stands around it on the stack: it is the
 * value of a key of a dict of some role, or an item of a list of some role. The root has
 * PK_ROLE_ROOT; what has PK_ROLE_NONE is skipped, with all that is in it. */
#ifndef VP_READ_PICKLE_MACHINE_H
#define VP_READ_PICKLE_MACHINE_H

#include <stdbool.h>

#include "trace/base/arena.h"
#include "trace/read/bytes/byte_stream.h"

typedef enum pk_type {
    PK_A_OTHER,  /* what nobody needs; `id` of them in a row */
    PK_A_MARK,   /* where a batch of items begins */
    PK_A_NUMBER, /* v */
    PK_A_TEXT,   /* id: interned; cut off behind PK_TEXT_MAX bytes */
    PK_A_RECORD, /* id: what the client made of a dict */
    PK_A_FOLDED, /* id: what the client made of a list */
    PK_A_LIST,   /* still on the stack, so that more may come; id: the client's */
    PK_A_DICT,
} pk_type;

typedef struct pk_value {
    uint8_t type; /* pk_type */
    uint8_t role;
    uint32_t id;
    int64_t v; /* a number; of a list or dict its memo entry, -1: none */
} pk_value;

enum { PK_ROLE_NONE, PK_ROLE_ROOT };

#define PK_TEXT_MAX 1024u

typedef struct pk_client {
    void *ctx;
    const char *const *words; /* strings whose ids are 1, 2, 3, … */
    size_t word_count;
    uint8_t record; /* the role of dicts that later values may refer to */
    uint8_t folded; /* the role of such lists */
    /* The role of a container: a dict or a list, of a dict's key or (key 0) of a list. */
    uint8_t (*role)(uint8_t parent, vp_sid key, bool dict);
    /* A container of a role begins, as item `index` of its list. *id: kept with it. */
    int (*open)(void *ctx, uint8_t role, uint32_t index, uint32_t *id);
    /* The items of a dict, n pairs of a key and a value. *id: what it is from now on. */
    int (*dict)(void *ctx, uint8_t role, const pk_value *pairs, size_t n, uint32_t *id);
    /* One more item of a list; *id is the list's. */
    int (*item)(void *ctx, uint8_t role, uint32_t *id, const pk_value *item);
} pk_client;

typedef struct pk_machine pk_machine;

int pk_new(pk_machine **out, const pk_client *client);
void pk_free(pk_machine *m);
/* Reads one pickle, which must be a dict. 1: to its end. 0: it was cut off, at pk_at. VP_ECORRUPT:
 * no pickle that a pickler wrote, VP_EUNSUPPORTED: it asks for more than plain values, VP_ELIMIT:
 * too deep or too large; all with the byte. What the client returns below 0 ends it. */
int pk_run(pk_machine *m, rd_stream *in);
int64_t pk_at(const pk_machine *m);
/* Lives as long as the machine. */
vp_str pk_text(const pk_machine *m, vp_sid id);

#endif
