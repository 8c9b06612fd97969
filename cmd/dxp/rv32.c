/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp rv32 disasm FILE`: lists the code of an ELF file or of a program binary. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/options/options.h"
#include "engine/rv32_objects.h"
#include "engine/seal.h"
#include "rv32/list.h"

#define FILE_MOST (64u << 20) /* bytes: more than the code and constants of any program */

static const char next_step[] =
	"give an ELF object or executable for riscv32, or a program binary of engine rv32";

static void line_print(void *context, const char *line)
{
	puts(line);
}

static int elf_list(const char *path, const struct rv32_object *object)
{
	char text[RV32_IMAGE_TEXT_BYTES];

	if (rv32_list(object, line_print, NULL, text) == DXP_OK)
		return EXIT_DONE;
	return print_fail("%s: %s; %s", path, text, next_step);
}

static int binary_list(const char *path, const uint8_t *data, size_t bytes)
{
	static struct rv32_object list[RV32_OBJECTS_MAX];
	struct ocl_pack pack;
	int count, status = EXIT_DONE;
	const char *wrong = rv32_objects_open(data, seal_skip(data, bytes), &pack, list, &count);

	if (wrong)
		return print_fail("%s: %s; %s", path, wrong, next_step);
	for (int i = 0; i < count && status == EXIT_DONE; i++) {
		printf("object %d of %d: %zu bytes\n", i + 1, count, list[i].bytes);
		status = elf_list(path, &list[i]);
	}
	return status;
}

static int disasm(const char *path)
{
	size_t bytes;
	char *file = file_load(path, FILE_MOST, &bytes);
	const uint8_t *data = (const uint8_t *)file;

	if (!file)
		return print_fail("%s", error_text());
	const struct rv32_object object = {data, bytes};
	int status = bytes >= 4 && memcmp(data, "\177ELF", 4) == 0 ? elf_list(path, &object)
								   : binary_list(path, data, bytes);
	free(file);
	if (fflush(stdout) != 0 && status == EXIT_DONE)
		status = print_fail("cannot write the listing: %s", strerror(errno));
	return status;
}

int command_rv32(int argc, char **argv)
{
	const struct usage usage = {
		.name = "rv32",
		.arguments = "disasm FILE",
		.text = "Lists the instructions of FILE with address, word, label and relocation. "
			"FILE is an ELF object or executable for riscv32, or a program binary of "
			"engine rv32: one that clGetProgramInfo returned, or a file of the folder "
			"`programs` in the node's cache.",
		.least = 2,
		.most = 2,
	};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (strcmp(args.at[0], "disasm") != 0) {
		print_fail("dxp rv32 has no command '%s'; there is disasm", args.at[0]);
		return EXIT_USAGE;
	}
	return disasm(args.at[1]);
}
