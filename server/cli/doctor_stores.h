/* Checks for `doctor` whether view_profile-fetch can run and for which object stores credentials
 * are found. No credential is printed and no request is sent. */
#ifndef VP_CLI_DOCTOR_STORES_H
#define VP_CLI_DOCTOR_STORES_H

#include "server/local/survey.h"

survey_fn doctor_stores;

#endif
