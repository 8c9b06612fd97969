/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the text of shape.h and kernels.cl. The build generates its definition. */
#ifndef LEARN_KERNELS_H
#define LEARN_KERNELS_H

extern const char kernels_source[];

#endif
