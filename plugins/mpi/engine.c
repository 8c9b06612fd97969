/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings, and lifetime of communicators. MPI reports a communicator's deletion through an
 * attribute, and the begin of MPI_Finalize through one of MPI_COMM_SELF: then all that remain are
 * ended, while MPI can still be used. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"

struct dxp_mpi_settings dxp_mpi_settings;

/* Guards all of these. Communicators are listed in the order of joining. Joining is collective, so
 * that order is the same on all ranks that share two communicators. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dxp_mpi_comm *first, **last = &first;
static int comm_key = MPI_KEYVAL_INVALID, self_key = MPI_KEYVAL_INVALID;

bool dxp_mpi_mode_read(const char *text, enum dxp_inc_mode *out)
{
	static const char *const names[] = {"node", "socket", "flat"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			*out = (enum dxp_inc_mode)i;
			return true;
		}
	fprintf(stderr, "%s: mode '%s' is none of node, socket, flat; node it is\n",
		dxp_mpi_settings.door, text);
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
			fprintf(stderr, "%s: '%.*s' is none of %s; all are taken\n",
				dxp_mpi_settings.door, (int)length, text,
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

void mpi_say(int level, const struct dxp_mpi_comm *c, const char *format, ...)
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
	fprintf(stderr, "%s: %s, rank %d of %d: %s\n", dxp_mpi_settings.door,
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
	while (atomic_load_explicit(&c->under_way, memory_order_acquire))
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

struct dxp_mpi_comm *dxp_mpi_comm_create(MPI_Comm comm, struct dxp_mpi_comm **owner)
{
	struct dxp_mpi_comm *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->comm = comm;
	c->owner = owner;
	c->node = c->node_down = c->leaders = MPI_COMM_NULL;
	c->type = c->flat_type = MPI_DATATYPE_NULL;
	c->op = MPI_OP_NULL;
	if (owner)
		*owner = c;
	return c;
}

static void unlist(struct dxp_mpi_comm *c)
{
	pthread_mutex_lock(&lock);
	if (c->link) {
		*c->link = c->next;
		if (c->next)
			c->next->link = c->link;
		else
			last = c->link;
		c->link = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void dxp_mpi_comm_destroy(struct dxp_mpi_comm *c)
{
	unlist(c);
	if (c->owner)
		*c->owner = NULL;
	free(c->places);
	free(c);
}

static int comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	struct dxp_mpi_comm *c = value;

	mpi_join_undo(c);
	dxp_mpi_comm_destroy(c);
	return MPI_SUCCESS;
}

static int finalizing(MPI_Comm comm, int key, void *value, void *extra)
{
	for (struct dxp_mpi_comm *c = first; c; c = c->next)
		mpi_join_undo(c);
	mpi_endpoint_close();
	return MPI_SUCCESS;
}

/* Caller holds lock. */
static bool make_keys(void)
{
	static int there;

	if (comm_key == MPI_KEYVAL_INVALID &&
	    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &comm_key, NULL))
		return false;
	if (self_key != MPI_KEYVAL_INVALID)
		return true;
	return !PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &self_key, NULL) &&
	       !PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, &there);
}

static bool watch(struct dxp_mpi_comm *c)
{
	bool ok;

	if (c->watched)
		return true;
	pthread_mutex_lock(&lock);
	ok = make_keys();
	pthread_mutex_unlock(&lock);
	c->watched = ok && !PMPI_Comm_set_attr(c->comm, comm_key, c);
	return c->watched;
}

bool mpi_enlist(struct dxp_mpi_comm *c)
{
	if (!watch(c))
		return false;
	pthread_mutex_lock(&lock);
	c->link = last;
	*last = c;
	last = &c->next;
	pthread_mutex_unlock(&lock);
	return true;
}

/* Returns true for an intracommunicator of several ranks. */
static bool worthwhile(MPI_Comm comm)
{
	int inter, ranks;

	return !PMPI_Comm_test_inter(comm, &inter) && !inter && !PMPI_Comm_size(comm, &ranks) &&
	       ranks > 1;
}

struct dxp_mpi_comm *dxp_mpi_comm_of(MPI_Comm comm)
{
	struct dxp_mpi_comm *c = NULL;
	int found = 0;

	if (comm == MPI_COMM_NULL)
		return NULL;
	if (comm_key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, comm_key, &c, &found))
		return NULL;
	if (found)
		return c;
	c = dxp_mpi_comm_create(comm, NULL);
	if (!c)
		return NULL;
	if (!worthwhile(comm))
		c->state = MPI_ORDINARY;
	if (watch(c))
		return c;
	dxp_mpi_comm_destroy(c);
	return NULL;
}
