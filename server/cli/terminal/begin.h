/* What both programs set up for the whole process before they read a word. */
#ifndef VP_CLI_BEGIN_H
#define VP_CLI_BEGIN_H

/* Locale, SIGPIPE, and how memory is given back and counted. Before the first allocation. */
void cli_begin(void);

#endif
