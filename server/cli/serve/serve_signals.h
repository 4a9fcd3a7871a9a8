/* Handles Ctrl-C, SIGTERM and the loss of the terminal while the server runs. */
#ifndef VP_CLI_SERVE_SIGNALS_H
#define VP_CLI_SERVE_SIGNALS_H

/* Blocks the signals that the loop waits for. Must be called first. */
void serve_block_signals(void);
typedef enum serve_event { SERVE_NOTHING, SERVE_STOP, SERVE_RESCAN } serve_event;
/* Waits for a signal, at most wait_ms (-1: no limit). */
serve_event serve_wait_signal(int wait_ms);
/* Makes a second signal exit immediately with 130. */
void serve_arm_second_signal(void);

#endif
