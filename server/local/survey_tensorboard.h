/* Which TensorBoard would be started, and whether it has the profile plugin: asked of the Python
 * that it belongs to, which takes a twentieth of starting it. */
#ifndef VP_LOCAL_SURVEY_TENSORBOARD_H
#define VP_LOCAL_SURVEY_TENSORBOARD_H

#include "server/local/survey.h"

survey_fn survey_tensorboard;

#endif
