/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles the kernels' runtime at first use: 3 s of one CPU. Files appear completely or not at
 * all. Of several processes, the first compiles, and the others wait. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/scratch.h"
#include "base/util.h"
#include "engine/rv32_child.h"
#include "engine/rv32_clang.h"

#define NAME_BYTES 80
#define WORDS_MAX  64

/* Logs messages on failure. `words` has `count` words, and space for all. */
static int runtime_run(const struct rv32_clang *c, const char *folder, const char **words,
		       unsigned count, const char *const *more, unsigned more_count)
{
	char *log;

	memcpy(words + count, more, more_count * sizeof(*more));
	const struct rv32_child child = {
		.folder = folder, .words = words, .reads = {c->prefix[0] ? c->prefix : NULL}};
	int status = rv32_child_run(&child, &log);
	if (status == DXP_EBUILD) {
		log_error("%s does not make riscv32 code: %.300s; apt install clang-15 libclc-15 "
			  "libclc-15-dev",
			  c->path, log ? log : "");
		status = DXP_EUNSUPPORTED;
	}
	free(log);
	return status;
}

static int runtime_compile(const struct rv32_clang *c, const char *folder)
{
	static const char *const kernels[] = {"-emit-llvm", "-c",         "runtime.cl",
					      "-o",         "runtime.bc", NULL};
	static const char *const support[] = {"-x", "c",         "-std=c17", "-ffreestanding",
					      "-c", "support.c", "-o",       "support.o",
					      NULL};
	const char *words[WORDS_MAX];

	if (!rv32_file_write(folder, "runtime.cl", rv32_runtime_text, strlen(rv32_runtime_text)) ||
	    !rv32_file_write(folder, "support.c", rv32_support_text, strlen(rv32_support_text))) {
		log_error("cannot write to %s: %s; is the disk full?", folder, strerror(errno));
		return DXP_EIO;
	}
	int status = runtime_run(c, folder, words, rv32_front_words(c, words), kernels,
				 ARRAY_COUNT(kernels));
	if (status == DXP_OK)
		status = runtime_run(c, folder, words, rv32_back_words(c, words), support,
				     ARRAY_COUNT(support));
	return status;
}

static bool publish(const struct rv32_clang *c, const char *folder, const char *from,
		    const char *to)
{
	char old_path[PATH_MAX], new_path[PATH_MAX];

	return snprintf(old_path, sizeof(old_path), "%s/%s", folder, from) < PATH_MAX &&
	       snprintf(new_path, sizeof(new_path), "%s/%s", c->folder, to) < PATH_MAX &&
	       rename(old_path, new_path) == 0;
}

int rv32_runtime_make(const struct rv32_clang *c, const char *bitcode, const char *support)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "%s/runtime-XXXXXX", c->folder) >=
		    (int)sizeof(folder) ||
	    !mkdtemp(folder)) {
		log_error("cannot make a folder in %s: %s; is the disk full?", c->folder,
			  strerror(errno));
		return DXP_EIO;
	}
	int status = runtime_compile(c, folder);
	if (status == DXP_OK && (!publish(c, folder, "support.o", support) ||
				 !publish(c, folder, "runtime.bc", bitcode))) {
		log_error("cannot keep the compiled runtime in %s: %s; is the disk full?",
			  c->folder, strerror(errno));
		status = DXP_EIO;
	}
	scratch_folder_remove(folder);
	return status;
}

/* False: missing or unreadable. */
static bool runtime_load(struct rv32_clang *c, const char *bitcode, const char *support)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", c->folder, bitcode) >= (int)sizeof(path) ||
	    access(path, R_OK) != 0)
		return false;
	c->support = rv32_file_read(c->folder, support, &c->support_bytes);
	if (!c->support)
		return false;
	strcpy(c->bitcode, path);
	return true;
}

int rv32_clang_ready(struct rv32_clang *c)
{
	char stem[33], bitcode[NAME_BYTES], support[NAME_BYTES], path[PATH_MAX];

	if (c->bitcode[0])
		return DXP_OK;
	for (int i = 0; i < 16; i++)
		snprintf(stem + 2 * i, 3, "%02x", c->sum[i]);
	snprintf(bitcode, sizeof(bitcode), "%s.bc", stem);
	snprintf(support, sizeof(support), "%s.o", stem);
	if (runtime_load(c, bitcode, support))
		return DXP_OK;
	snprintf(path, sizeof(path), "%s/lock", c->folder);
	int lock = descriptor_raise(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR)
		;
	int status = DXP_OK;
	if (!runtime_load(c, bitcode, support)) {
		status = rv32_runtime_make(c, bitcode, support);
		if (status == DXP_OK && !runtime_load(c, bitcode, support))
			status = DXP_EIO;
	}
	if (lock >= 0)
		close(lock);
	return status;
}
