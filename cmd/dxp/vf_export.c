/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp vf export`: runs a virtual machine that has NIC functions. Each function is two
 * ivshmem PCI devices of QEMU: its window, and registered memory (dxp/guest.h). QEMU opens both as
 * inherited descriptors. The functions stay open until the machine stops. */
#include "cmd/dxp/vf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dxp/function.h>
#include <dxp/guest.h>

#include "cmd/dxp/command.h"

#define NICS_MAX    8 /* functions of one virtual machine; each needs two of the 32 PCI slots */
#define OPTION_TEXT 160
/* arguments of one function: "-object" and "-device", each with its text, for the window and for
 * the memory */
#define NIC_ARGUMENTS 8
#define EXIT_NOT_RUN  126
#define EXIT_NOT_HERE 127

_Static_assert(sizeof(struct dxp_guest) == 4096, "the guest's own memory begins at a page");

struct exported {
	struct dxp_function *function;
	struct dxp_memory memory;
	struct device_text {
		char object[OPTION_TEXT], device[OPTION_TEXT];
	} window_text, memory_text;
};

struct machine {
	struct exported nics[NICS_MAX];
	uint32_t count;
	char **arguments; /* arguments of the program, followed by those of the devices */
};

static int failed(void)
{
	return print_fail("%s", dxp_function_error());
}

static void head_write(const struct exported *e, uint32_t number, const char *nic)
{
	struct dxp_guest *head = e->memory.base;

	*head = (struct dxp_guest){
		.magic = DXP_GUEST_MAGIC,
		.version = DXP_GUEST_VERSION,
		.bytes = e->memory.bytes,
		.key = e->memory.key,
		.qp_magic = dxp_function_window(e->function)->qp_magic[0],
		.number = number,
	};
	snprintf(head->nic, sizeof(head->nic), "%s", nic);
}

/* Opens a function that the NIC polls all the time, because the guest cannot wake the NIC. */
static int nic_add(struct machine *m, const char *nic, uint64_t memory_bytes)
{
	struct exported *e = &m->nics[m->count];
	const struct dxp_function_options options = {.nic = nic};
	const uint32_t rights = DXP_REMOTE_READ | DXP_REMOTE_WRITE | DXP_REMOTE_ATOMIC;

	if (dxp_function_attach(&options, &e->function) != DXP_OK)
		return failed();
	m->count++;
	if (dxp_memory_create(e->function, memory_bytes, rights, &e->memory) != DXP_OK ||
	    dxp_function_arm(e->function) != DXP_OK)
		return failed();
	head_write(e, m->count - 1, nic);
	return EXIT_DONE;
}

static int nics_add(struct machine *m, const char *nics, uint64_t memory_bytes)
{
	char *list = strdup(nics), *rest = list;
	int status = list ? EXIT_DONE : print_fail("out of memory");

	for (char *nic; status == EXIT_DONE && (nic = strsep(&rest, ","));) {
		if (m->count == NICS_MAX)
			status = print_fail("a virtual machine can have at most %d functions",
					    NICS_MAX);
		else
			status = nic_add(m, nic, memory_bytes);
	}
	free(list);
	return status;
}

/* Describes a device in `text` and appends it to the arguments. Returns the position after them. */
static char **device_add(char **to, struct device_text *text, const char *kind, uint32_t number,
			 int fd, uint64_t bytes)
{
	static char object_option[] = "-object", device_option[] = "-device";

	snprintf(text->object, OPTION_TEXT,
		 "memory-backend-file,id=dxp-%s%u,share=on,mem-path=/proc/self/fd/%d,size=%llu",
		 kind, number, fd, (unsigned long long)bytes);
	snprintf(text->device, OPTION_TEXT, "ivshmem-plain,memdev=dxp-%s%u", kind, number);
	*to++ = object_option;
	*to++ = text->object;
	*to++ = device_option;
	*to++ = text->device;
	return to;
}

/* Appends the devices to the program's arguments. */
static int arguments_make(struct machine *m, char **program)
{
	size_t count = 0;

	while (program[count])
		count++;
	m->arguments = calloc(count + m->count * NIC_ARGUMENTS + 1, sizeof(*m->arguments));
	if (!m->arguments)
		return print_fail("out of memory");
	memcpy(m->arguments, program, count * sizeof(*program));
	char **to = m->arguments + count;
	for (uint32_t i = 0; i < m->count; i++) {
		struct exported *e = &m->nics[i];
		to = device_add(to, &e->window_text, "window", i,
				dxp_function_window_fd(e->function), DXP_WINDOW_FILE_BYTES);
		to = device_add(to, &e->memory_text, "memory", i, e->memory.fd, e->memory.bytes);
	}
	return EXIT_DONE;
}

static int program_exec(const struct machine *m)
{
	/* Stops the virtual machine if this process dies, because its functions close then. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (uint32_t i = 0; i < m->count; i++) {
		fcntl(dxp_function_window_fd(m->nics[i].function), F_SETFD, 0);
		fcntl(m->nics[i].memory.fd, F_SETFD, 0);
	}
	execvp(m->arguments[0], m->arguments);
	int why = errno;
	print_fail("cannot start '%s': %s", m->arguments[0], strerror(why));
	return why == ENOENT ? EXIT_NOT_HERE : EXIT_NOT_RUN;
}

static int program_run(const struct machine *m)
{
	int status;

	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		return print_fail("cannot start a process: %s", strerror(errno));
	if (child == 0)
		_exit(program_exec(m));
	signal(SIGINT, SIG_IGN); /* the terminal also sends SIGINT to the virtual machine */
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int vf_export(const char *nics, uint64_t memory_bytes, char **program)
{
	struct machine *m = calloc(1, sizeof(*m));
	int status = m ? nics_add(m, nics, memory_bytes) : print_fail("out of memory");

	if (status == EXIT_DONE)
		status = arguments_make(m, program);
	if (status == EXIT_DONE)
		status = program_run(m);
	for (uint32_t i = 0; m && i < m->count; i++)
		dxp_function_close(m->nics[i].function);
	if (m)
		free(m->arguments);
	free(m);
	return status;
}
