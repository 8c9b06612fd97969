/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a compiler as a child process, because its input comes from a host. Limits CPU time, memory
 * and file size; descriptors are not inherited. With Landlock, it can write only to its own folder,
 * and read only the system's folders and `reads`. */
#ifndef ENGINE_RV32_CHILD_H
#define ENGINE_RV32_CHILD_H

#define RV32_CHILD_CPU_S        60u /* s of CPU time: far more than a large program needs */
#define RV32_CHILD_MEMORY_BYTES (4ull << 30) /* bytes of address space; clang uses 0.3 GiB */
#define RV32_CHILD_FILE_BYTES   (256u << 20)
#define RV32_CHILD_READS        4

struct rv32_child {
	const char *folder;       /* working folder, to read and write */
	const char *const *words; /* path of the program, its arguments, NULL */
	/* further readable folders and files; may be NULL */
	const char *reads[RV32_CHILD_READS];
};

/* Runs until the exit. The caller frees *log, the output of both streams; NULL: none. DXP_OK: exit
 * status 0; DXP_EBUILD: another, or a limit was reached (*log has the reason); DXP_EIO: not
 * started, logged; DXP_ENOMEM. */
int rv32_child_run(const struct rv32_child *child, char **log);

#endif
