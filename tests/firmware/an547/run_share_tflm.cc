/* SPDX-License-Identifier: Apache-2.0 */
/* Several networks on one arena (npu-share --tflm), each with an interpreter of its own. */
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/system_setup.h"

#include "run_share.c"
