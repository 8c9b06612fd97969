/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the text of blocks.h and kernel.cl. The build generates its definition from these
 * files. */
#ifndef KERNEL_PUT_H
#define KERNEL_PUT_H

extern const char kernel_source[];

#endif
