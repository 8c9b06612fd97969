/* SPDX-License-Identifier: BSD-3-Clause */
/* TFLite's numbers of built-in operators. */
#ifndef CLASSIFY_TFLITE_NAMES_H
#define CLASSIFY_TFLITE_NAMES_H

/* Our enum op_kind for a number, or -1 when we lack that operator. */
int tflite_op_kind(int builtin);

/* The schema's name, also of operators that we lack; "unknown" beyond those we have names for. */
const char *tflite_op_name(int builtin);

#endif
