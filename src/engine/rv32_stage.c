/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that compiling programs and compiling the runtime share: the first words of the command
 * line, and files in the folder of a build. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/util.h"
#include "engine/rv32_clang.h"

/* The compiler enables none for riscv32. rv32_about.c reports the same list. */
#define RV32_EXTENSIONS_ON                       \
	"+cl_khr_byte_addressable_store,"        \
	"+cl_khr_global_int32_base_atomics,"     \
	"+cl_khr_global_int32_extended_atomics," \
	"+cl_khr_local_int32_base_atomics,"      \
	"+cl_khr_local_int32_extended_atomics"
#define FILE_MAX (256u << 20) /* intermediate file */

static int file_open(const char *folder, const char *name, int flags)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -1;
	return descriptor_raise(open(path, flags | O_CLOEXEC, 0600));
}

bool rv32_file_write(const char *folder, const char *name, const void *data, size_t bytes)
{
	int file = file_open(folder, name, O_WRONLY | O_CREAT | O_TRUNC);
	bool written = file >= 0 && descriptor_write(file, data, bytes);

	return file >= 0 && close(file) == 0 && written;
}

uint8_t *rv32_file_read(const char *folder, const char *name, size_t *bytes)
{
	int file = file_open(folder, name, O_RDONLY);
	struct stat s;
	uint8_t *data = NULL;

	*bytes = 0;
	if (file >= 0 && fstat(file, &s) == 0 && s.st_size > 0 && s.st_size < FILE_MAX)
		data = malloc((size_t)s.st_size + 1);
	while (data && *bytes < (size_t)s.st_size) {
		ssize_t n = read(file, data + *bytes, (size_t)s.st_size - *bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*bytes += (size_t)n;
	}
	if (data)
		data[*bytes] = '\0';
	if (file >= 0)
		close(file);
	return data;
}

unsigned rv32_front_words(const struct rv32_clang *c, const char **words)
{
	const char *const all[] = {c->path,
				   "--target=wasm32",
				   "-U__wasm",
				   "-U__wasm__",
				   "-U__wasm32",
				   "-U__wasm32__",
				   "-D__riscv=1",
				   "-D__riscv_xlen=32",
				   "-D__ENDIAN_LITTLE__=1",
				   "-U__IMAGE_SUPPORT__",
				   "-O2",
				   "-fno-builtin",
				   "-x",
				   "cl",
				   "-cl-std=CL1.2",
				   "-Xclang",
				   "-finclude-default-header",
				   "-Xclang",
				   "-cl-ext=" RV32_EXTENSIONS_ON};

	memcpy(words, all, sizeof(all));
	return ARRAY_COUNT(all);
}

/* Sets the words for riscv32 objects. From clang 17 on, the CSR instructions are a separate
 * extension (zicsr). */
unsigned rv32_back_words(const struct rv32_clang *c, const char **words)
{
	const char *const all[] = {c->path,
				   "--target=riscv32",
				   c->major >= 17 ? "-march=rv32imaf_zicsr" : "-march=rv32imaf",
				   "-mabi=ilp32",
				   "-O2",
				   "-fno-builtin",
				   "-mno-relax",
				   "-ffunction-sections",
				   "-fdata-sections"};

	memcpy(words, all, sizeof(all));
	return ARRAY_COUNT(all);
}
