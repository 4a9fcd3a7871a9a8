/* What `view_profile doctor` says of other machines: who fetches from them, and where credentials
 * of object stores would come from, without a value and without asking anybody else. */
#ifndef VP_CLI_DOCTOR_STORES_H
#define VP_CLI_DOCTOR_STORES_H

#include "server/local/survey.h"

survey_fn doctor_stores;

#endif
