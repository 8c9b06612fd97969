/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates the numbers of TFLite's built-in operators. */
#ifndef CLASSIFY_TFLITE_NAMES_H
#define CLASSIFY_TFLITE_NAMES_H

/* Returns enum op_kind, or -1 if unsupported. */
int tflite_op_kind(int builtin);

/* Returns the schema's name even if unsupported; "unknown" for other numbers. */
const char *tflite_op_name(int builtin);

#endif
