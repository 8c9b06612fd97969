/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a TFLite file (a flatbuffer, identifier "TFL3") into a model. */
#ifndef CLASSIFY_TFLITE_H
#define CLASSIFY_TFLITE_H

#include "model.h"

/* Reads and checks the file at `path`. On success *out must be released with model_release.
 * DXP_ENOENT, DXP_EIO, DXP_ENOMEM, DXP_EMALFORMED (not a model, or cut short, or contradicts
 * itself), DXP_EUNSUPPORTED (a valid model that needs an operator or type we lack; the sentence
 * names it). */
int tflite_read(const char *path, struct model *out, struct fault *fault);

/* As tflite_read, from memory; `name` stands for the path in messages. The bytes are copied. */
int tflite_parse(const char *name, const void *bytes, size_t count, struct model *out,
		 struct fault *fault);

#endif
