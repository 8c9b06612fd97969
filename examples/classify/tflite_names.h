/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates TFLite's numbers of built-in operators. */
#ifndef CLASSIFY_TFLITE_NAMES_H
#define CLASSIFY_TFLITE_NAMES_H

/* Returns the enum op_kind of a number, or -1 if the operator is not supported. */
int tflite_op_kind(int builtin);

/* Returns the schema's name, also for unsupported operators; "unknown" beyond the table. */
const char *tflite_op_name(int builtin);

#endif
