/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of a program as files for the compiler, in a directory that exists during one build.
 * (clCompileProgram() accepts headers too, but PoCL 3.1 then loses the information about kernel
 * arguments.) */
#ifndef ENGINE_OCL_FOLDER_H
#define ENGINE_OCL_FOLDER_H

#include <limits.h>

#include "engine/engine.h"

struct ocl_folder {
	char path[PATH_MAX / 2];
};

/* Writes the headers (all files of `source` after the first) to a new directory in `where`. Also
 * writes dxp/device.h if `source` does not contain it. DXP_EBUILD: *log names the invalid file;
 * DXP_EIO: disk error, logged; DXP_ENOMEM. */
int ocl_folder_create(const char *where, const struct engine_source *source, struct ocl_folder *out,
		      char **log);
void ocl_folder_destroy(const struct ocl_folder *f);

/* Returns the options for the compiler, which the caller frees. Replaces each folder of the program
 * after -I by its path in `f`, and adds `f` itself. If f is NULL, there are no headers. DXP_EBUILD:
 * *log names a folder that is not in the program; DXP_ENOMEM. */
int ocl_folder_options(const struct ocl_folder *f, const char *options, char **out, char **log);

/* Removes the directory's path from a log, because the path is private to the node. */
void ocl_folder_hide(const struct ocl_folder *f, char *log);

#endif
