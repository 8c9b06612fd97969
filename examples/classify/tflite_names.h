/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates the numbers of TFLite's built-in operators. */
#ifndef CLASSIFY_TFLITE_NAMES_H
#define CLASSIFY_TFLITE_NAMES_H

/* Returns the enum op_kind for an operator's number, or -1 if the operator is not supported. */
int tflite_op_kind(int builtin);

/* Returns the operator's name in the schema, even if it is not supported; "unknown" if the table
 * does not have the number. */
const char *tflite_op_name(int builtin);

#endif
