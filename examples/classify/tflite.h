/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a TFLite file (a flatbuffer, identifier "TFL3") into a model. */
#ifndef CLASSIFY_TFLITE_H
#define CLASSIFY_TFLITE_H

#include "model.h"

/* The caller releases *out with model_release. Errors: DXP_ENOENT, DXP_EIO, DXP_ENOMEM,
 * DXP_EMALFORMED (not a model, truncated, inconsistent), DXP_EUNSUPPORTED (valid, but the named
 * operator or type is missing here). */
int tflite_read(const char *path, struct model *out, struct fault *fault);

/* Copies a file in memory. `name` replaces the path in messages. */
int tflite_parse(const char *name, const void *bytes, size_t count, struct model *out,
		 struct fault *fault);

#endif
