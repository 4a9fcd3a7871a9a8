/* Output of `capture`: JSON lines on stdout, or a progress line on the terminal followed by one
 * line per failure. */
#ifndef VP_CLI_PROFILE_SAY_H
#define VP_CLI_PROFILE_SAY_H

#include "server/cli/language/cli_options.h"
#include "server/cli/capture/profile_job.h"
#include "server/cli/terminal/term.h"

#define PROFILE_SCHEMA "view_profile.capture/1"

typedef struct profile_say {
    bool json;
    cli_progress progress;
    int64_t received_ms; /* time of the first byte, for the rate */
} profile_say;

void profile_say_begin(profile_say *s, const cli_options *o, const profile_job *j);
/* Callback for profile_job.told. */
void profile_say_change(void *ctx, const profile_job *j, const profile_target *t);
void profile_say_end(profile_say *s, const profile_job *j, int code);

#endif
