/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of shape.h and kernels.cl; the build generates its definition. */
#ifndef LEARN_KERNELS_H
#define LEARN_KERNELS_H

extern const char kernels_source[];

#endif
