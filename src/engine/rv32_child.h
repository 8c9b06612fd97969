/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a compiler as a child process, for text that comes from a host. Limits its CPU time, memory
 * and file size. The child has no descriptors of this process. Where the kernel has Landlock, it
 * writes to its own folder only, and reads the system's folders and `reads` only. */
#ifndef ENGINE_RV32_CHILD_H
#define ENGINE_RV32_CHILD_H

#define RV32_CHILD_CPU_S        60u          /* far more than a large program needs */
#define RV32_CHILD_MEMORY_BYTES (4ull << 30) /* address space; clang uses 0.3 GiB */
#define RV32_CHILD_FILE_BYTES   (256u << 20)
#define RV32_CHILD_READS        4

struct rv32_child {
	const char *folder;                  /* working folder, readable and writable */
	const char *const *words;            /* program with its path, arguments, NULL */
	const char *reads[RV32_CHILD_READS]; /* more folders and files to read; NULL: none */
};

/* Runs the compiler until it exits. The output of both streams is in *log, which the caller frees;
 * NULL if there is none. DXP_OK: exit status 0; DXP_EBUILD: another exit status, or a limit was
 * reached (in *log); DXP_EIO: not started, logged; DXP_ENOMEM. */
int rv32_child_run(const struct rv32_child *child, char **log);

#endif
