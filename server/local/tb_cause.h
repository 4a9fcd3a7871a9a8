/* Recognizes why TensorBoard failed from its output: returns a sentence for the user and the
 * command that fixes it. tests/http/test_tensorboard.py has the texts of real failures. */
#ifndef VP_LOCAL_TB_CAUSE_H
#define VP_LOCAL_TB_CAUSE_H

#include <stdbool.h>

#define TB_INSTALL "pip install tensorboard xprof"

typedef struct tb_cause {
    const char *sentence;
    const char *command; /* "pip install …"; NULL if no command helps */
    bool port_taken;     /* another port may work */
} tb_cause;

/* The cause found in the last lines of the output, or NULL. */
const tb_cause *tb_cause_of(const char *log);
/* The causes "not installed" and "without profile plugin". */
extern const tb_cause tb_not_installed, tb_no_plugin;

#endif
