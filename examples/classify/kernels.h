/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of kernels.cl; the build generates its definition. */
#ifndef CLASSIFY_KERNELS_H
#define CLASSIFY_KERNELS_H

extern const char kernels_source[];

#endif
