/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a compiler as a child process, because the text that it compiles comes from a host. Limits
 * its CPU time, memory and file size. The child inherits no descriptors of this process. If Linux
 * has Landlock, the child can write only to its own folder, and read only the system's folders and
 * `reads`. */
#ifndef ENGINE_RV32_CHILD_H
#define ENGINE_RV32_CHILD_H

#define RV32_CHILD_CPU_S        60u /* s of CPU time: far more than a large program needs */
#define RV32_CHILD_MEMORY_BYTES (4ull << 30) /* bytes of address space; clang uses 0.3 GiB */
#define RV32_CHILD_FILE_BYTES   (256u << 20)
#define RV32_CHILD_READS        4

struct rv32_child {
	const char *folder;       /* working folder, which the child may read and write */
	const char *const *words; /* path of the program, its arguments, then NULL */
	/* further folders and files that the child may read; NULL: unused entry */
	const char *reads[RV32_CHILD_READS];
};

/* Runs the compiler until it exits. *log gets the output of both streams, which the caller frees;
 * NULL: no output. DXP_OK: exit status 0; DXP_EBUILD: another exit status, or a limit was reached
 * (*log has the reason); DXP_EIO: the child did not start, logged; DXP_ENOMEM. */
int rv32_child_run(const struct rv32_child *child, char **log);

#endif
