/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces a header of Open MPI that packages lack. In all of them, integers of Fortran and C have
 * the same size. */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#define OMPI_ARRAY_NAME_DECL(a)
#define OMPI_SINGLE_NAME_DECL(a)
#define OMPI_ARRAY_NAME_CONVERT(a)  a
#define OMPI_SINGLE_NAME_CONVERT(a) a
#define OMPI_INT_2_FINT(a)          a
#define OMPI_FINT_2_INT(a)          a

#endif
