/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces a header that Open MPI's headers include but that packages do not contain. In all such
 * packages, integers of Fortran and C have the same size. */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#define OMPI_ARRAY_NAME_DECL(a)
#define OMPI_SINGLE_NAME_DECL(a)
#define OMPI_ARRAY_NAME_CONVERT(a)  a
#define OMPI_SINGLE_NAME_CONVERT(a) a
#define OMPI_INT_2_FINT(a)          a
#define OMPI_FINT_2_INT(a)          a

#endif
