/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings, messages to the user, and progress. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "comm.h"

struct dxp_mpi_settings dxp_mpi_settings;

bool dxp_mpi_mode_read(const char *text, enum dxp_inc_mode *out)
{
	static const char *const names[] = {"node", "socket", "flat"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			*out = (enum dxp_inc_mode)i;
			return true;
		}
	fprintf(stderr, "%s: mode '%s' is not node, socket or flat; using node\n",
		dxp_mpi_settings.label, text);
	return false;
}

bool dxp_mpi_collectives_read(const char *text, unsigned *out)
{
	static const char *const names[] = {"allreduce", "iallreduce", "barrier", "bcast",
					    "reduce"};
	unsigned mask = 0;

	while (*text) {
		size_t length = strcspn(text, ",");
		int i = 0;

		while (i < 5 && (strlen(names[i]) != length || memcmp(names[i], text, length)))
			i++;
		if (i == 5) {
			fprintf(stderr, "%s: '%.*s' is not one of %s; offloading all of them\n",
				dxp_mpi_settings.label, (int)length, text,
				DXP_MPI_COLLECTIVES_DEFAULT);
			return false;
		}
		mask |= 1u << i;
		text += length;
		text += *text == ',';
	}
	*out = mask;
	return true;
}

void mpi_log(int level, const struct dxp_mpi_comm *c, const char *format, ...)
{
	char name[MPI_MAX_OBJECT_NAME] = "", text[512];
	int length;
	va_list list;

	if (level > dxp_mpi_settings.verbose)
		return;
	PMPI_Comm_get_name(c->comm, name, &length);
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fprintf(stderr, "%s: %s, rank %d of %d: %s\n", dxp_mpi_settings.label,
		*name ? name : "a communicator", c->rank, c->ranks, text);
}

void mpi_progress(void)
{
	int flag;

	if (dxp_mpi_settings.progress)
		dxp_mpi_settings.progress(NULL);
	else
		PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

bool mpi_count(struct dxp_mpi_comm *c)
{
	if (c->state == MPI_JOINING)
		return false;
	c->calls++;
	return c->state != MPI_ORDINARY;
}

void mpi_let_pass(struct dxp_mpi_comm *c)
{
	while (atomic_load_explicit(&c->outstanding, memory_order_acquire))
		mpi_progress();
}

int mpi_adopt(MPI_Comm comm)
{
	if (comm == MPI_COMM_NULL)
		return MPI_SUCCESS;
	if (dxp_mpi_settings.made_private)
		dxp_mpi_settings.made_private(comm);
	return PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}
