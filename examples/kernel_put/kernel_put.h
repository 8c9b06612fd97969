/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of blocks.h and kernel.cl; the build generates its definition. */
#ifndef KERNEL_PUT_H
#define KERNEL_PUT_H

extern const char kernel_source[];

#endif
