/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the compiled program of echo.bpf.c, which the build generates. */
#ifndef BENCH_INC_HOP_ECHO_H
#define BENCH_INC_HOP_ECHO_H

#include <stddef.h>

extern const unsigned char hop_echo_object[];
extern const size_t hop_echo_object_bytes;

#endif
