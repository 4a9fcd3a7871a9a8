/* Checks for `doctor` which TensorBoard would be started and whether it has the profile plugin, by
 * asking its Python for package versions. This takes a twentieth of the time of starting
 * TensorBoard. */
#ifndef VP_LOCAL_SURVEY_TENSORBOARD_H
#define VP_LOCAL_SURVEY_TENSORBOARD_H

#include "server/local/survey.h"

survey_fn survey_tensorboard;

#endif
