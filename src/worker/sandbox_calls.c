/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits the system calls of a worker, and of programs that it starts, to those for files, memory
 * and threads, and to start the compiler's linker. Others fail with EPERM: sockets, signals and
 * traces of other processes, namespaces, mounts, keys. */
#include "worker/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define INSTRUCTIONS_MAX 512
#define VALUES_MAX       16

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

static const uint32_t plain_calls[] = {
	/* files */
	SYS_read,
	SYS_readv,
	SYS_pread64,
	SYS_write,
	SYS_writev,
	SYS_pwrite64,
	SYS_close,
	SYS_close_range,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_statfs,
	SYS_fstatfs,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_openat,
	SYS_mkdirat,
	SYS_unlinkat,
	SYS_renameat2,
	SYS_linkat,
	SYS_symlinkat,
	SYS_readlinkat,
	SYS_fchmod,
	SYS_fchmodat,
	SYS_fchown,
	SYS_utimensat,
	SYS_umask,
	SYS_truncate,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fadvise64,
	SYS_fsync,
	SYS_fdatasync,
	SYS_flock,
	SYS_copy_file_range,
	SYS_getdents64,
	SYS_getcwd,
	SYS_chdir,
	SYS_fchdir,
	SYS_dup,
	SYS_dup3,
	SYS_pipe2,
	SYS_ppoll,
	SYS_pselect6,
	/* memory */
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_madvise,
	SYS_msync,
	SYS_brk,
	SYS_membarrier,
	/* signals within the process */
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
	SYS_restart_syscall,
	/* time */
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	/* threads and processes */
	SYS_execve,
	SYS_wait4,
	SYS_waitid,
	SYS_exit,
	SYS_exit_group,
	SYS_futex,
	SYS_rseq,
	SYS_set_tid_address,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_getpriority,
	/* facts about the process and the system */
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getpgid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getgroups,
	SYS_getrandom,
	SYS_getrusage,
	SYS_getrlimit,
	SYS_setrlimit,
	SYS_sysinfo,
	SYS_uname,
	SYS_times,
	/* for a further sandbox: rv32_child.c */
	SYS_landlock_create_ruleset,
	SYS_landlock_add_rule,
	SYS_landlock_restrict_self,
#ifdef __x86_64__
	SYS_access,
	SYS_arch_prctl,
	SYS_chmod,
	SYS_dup2,
	SYS_fork,
	SYS_getpgrp,
	SYS_link,
	SYS_lstat,
	SYS_mkdir,
	SYS_open,
	SYS_pause,
	SYS_pipe,
	SYS_poll,
	SYS_readlink,
	SYS_rename,
	SYS_renameat,
	SYS_rmdir,
	SYS_select,
	SYS_stat,
	SYS_symlink,
	SYS_time,
	SYS_unlink,
	SYS_vfork,
#endif
};

/* Permitted only if argument `index` is one of `values`. */
static const struct {
	uint32_t number, index, count;
	uint32_t values[VALUES_MAX];
} value_calls[] = {
	/* F_SETOWN and F_SETSIG would let Linux send signals */
	{SYS_fcntl,
	 1,
	 12,
	 {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW,
	  F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ}},
	{SYS_ioctl, 1, 5, {FIONREAD, FIOCLEX, FIONCLEX, TCGETS, TIOCGWINSZ}},
	{SYS_prctl,
	 0,
	 6,
	 {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_VMA,
	  PR_SET_TIMERSLACK}},
	{SYS_prlimit64, 0, 1, {0}}, /* pid 0: the process itself */
	{SYS_sched_setaffinity, 0, 1, {0}},
};

struct filter {
	struct sock_filter at[INSTRUCTIONS_MAX];
	unsigned short count;
};

static void add(struct filter *f, uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
	assert(f->count < INSTRUCTIONS_MAX);
	f->at[f->count++] = (struct sock_filter)BPF_JUMP(code, value, yes, no);
}

static void load(struct filter *f, uint32_t offset)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void answer(struct filter *f, uint32_t action)
{
	add(f, BPF_RET | BPF_K, action, 0, 0);
}

static void answer_if(struct filter *f, uint32_t value, uint32_t action)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(f, action);
}

/* Compares the low half of the argument, because Linux reads only that. */
static void permit_values(struct filter *f, uint32_t number, uint32_t index, const uint32_t *values,
			  uint32_t count)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, number, 0, (uint8_t)(2 * count + 2));
	load(f, offsetof(struct seccomp_data, args) + 8 * index);
	for (uint32_t i = 0; i < count; i++)
		answer_if(f, values[i], SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
}

/* Appends: permits clone() without new namespaces. */
static void permit_clone(struct filter *f)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
	load(f, offsetof(struct seccomp_data, args));
	add(f, BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
	answer(f, SECCOMP_RET_ALLOW);
	/* A filter cannot read arguments of clone3() in memory. After ENOSYS, libraries use
	 * clone(). */
	answer_if(f, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
}

static void filter_make(struct filter *f)
{
	const uint32_t self = (uint32_t)getpid();

	load(f, offsetof(struct seccomp_data, arch));
	add(f, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
	load(f, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_COUNT(plain_calls); i++)
		answer_if(f, plain_calls[i], SECCOMP_RET_ALLOW);
	permit_clone(f);
	permit_values(f, SYS_tgkill, 0, &self, 1); /* abort() signals its own process */
	for (size_t i = 0; i < ARRAY_COUNT(value_calls); i++)
		permit_values(f, value_calls[i].number, value_calls[i].index, value_calls[i].values,
			      value_calls[i].count);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
}

bool sandbox_calls_limit(void)
{
	struct filter f = {.count = 0};

	filter_make(&f);
	const struct sock_fprog program = {.len = f.count, .filter = f.at};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
