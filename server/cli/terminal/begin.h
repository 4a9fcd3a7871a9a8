/* Process-wide setup that both programs do before they read any input. */
#ifndef VP_CLI_BEGIN_H
#define VP_CLI_BEGIN_H

/* Sets up locale, SIGPIPE and memory allocation. Must be called before the first allocation. */
void cli_begin(void);

#endif
