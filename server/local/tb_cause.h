/* Why a TensorBoard does not work, by the words that it prints: one sentence for the user and the
 * command that mends it. Texts of the real failures are in tests/http/test_tensorboard.py. Only
 * server/local includes this. */
#ifndef VP_LOCAL_TB_CAUSE_H
#define VP_LOCAL_TB_CAUSE_H

#include <stdbool.h>

#define TB_INSTALL "pip install tensorboard xprof"

typedef struct tb_cause {
    const char *sentence;
    const char *command; /* "pip install …"; NULL where none helps */
    bool port_taken;     /* another port may work */
} tb_cause;

/* The cause that its last lines name, or NULL. */
const tb_cause *tb_cause_of(const char *log);
/* There is none, and none without its profile plugin. */
extern const tb_cause tb_not_installed, tb_no_plugin;

#endif
