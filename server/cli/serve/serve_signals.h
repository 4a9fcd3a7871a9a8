/* Ctrl-C, SIGTERM and a closed terminal while the server runs. */
#ifndef VP_CLI_SERVE_SIGNALS_H
#define VP_CLI_SERVE_SIGNALS_H

/* First of all blocks the signals that the loop waits for. */
void serve_block_signals(void);
typedef enum serve_event { SERVE_NOTHING, SERVE_STOP, SERVE_RESCAN } serve_event;
/* Waits for a signal at most wait_ms (-1: for ever). */
serve_event serve_wait_signal(int wait_ms);
/* From now on a second signal ends the program at once, with 130. */
void serve_arm_second_signal(void);

#endif
