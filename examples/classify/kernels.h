/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the text of kernels.cl. The build generates its definition. */
#ifndef CLASSIFY_KERNELS_H
#define CLASSIFY_KERNELS_H

extern const char kernels_source[];

#endif
