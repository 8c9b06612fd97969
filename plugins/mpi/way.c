/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes each call in the way that choice.h chooses, and times both ways. A timed call begins with a
 * barrier, so that its time does not include the wait for a late rank. Ranks exchange their times
 * by an ordinary allreduce, so all ranks decide with the same numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "comm.h"

static const char *const names[MPI_WAYS] = {"allreduce", "barrier", "bcast", "reduce"};

/* For calls that the core itself makes on the communicator. Call this with true before them, and
 * with false after them. These calls are then ordinary and not counted. */
static void own_calls(struct dxp_mpi_comm *c, bool begin)
{
	c->state = begin ? MPI_JOINING : MPI_JOINED;
}

static struct choice *choice_of(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes)
{
	return &c->choices->of[way][choice_class(bytes)];
}

bool mpi_way_ordinary(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes)
{
	return c->measure_calls > 0 && choice_of(c, way, bytes)->ordinary;
}

bool mpi_way_nested(struct dxp_mpi_comm *c)
{
	const bool nested = c->within || c->device_busy;

	c->nested += nested;
	return nested;
}

bool mpi_way_begin(struct dxp_mpi_comm *c, enum mpi_way way, size_t bytes)
{
	struct choice_call call;
	struct choice *choice;

	if (c->measure_calls == 0) {
		mpi_let_pass(c);
		return true;
	}
	choice = choice_of(c, way, bytes);
	call = choice_begin(choice);
	if (!call.ordinary || call.timed)
		mpi_let_pass(c);
	if (call.timed) {
		own_calls(c, true);
		PMPI_Barrier(c->comm);
		own_calls(c, false);
		c->timed = choice;
		c->timed_since = PMPI_Wtime();
	}
	c->within = call.ordinary;
	return !call.ordinary;
}

static void decision_log(const struct dxp_mpi_comm *c, const struct choice *choice)
{
	size_t at = (size_t)(choice - c->choices->of[0]);

	mpi_log(2, c,
		"measured: %s of at most %zu bytes: switches %.1f us, ordinary MPI %.1f us; now %s",
		names[at / CHOICE_CLASSES], choice_class_bytes((unsigned)(at % CHOICE_CLASSES)),
		(double)choice->switches_ns / 1e3, (double)choice->ordinary_ns / 1e3,
		choice->ordinary ? "ordinary MPI" : "switches");
}

/* Exchanges the times and decides. The last number of the exchange is not 0 if a leader lost the
 * switches; then the times are of no use. */
static void decide(struct dxp_mpi_comm *c, struct choice *choice)
{
	int64_t own[CHOICE_CALLS + 1], worst[CHOICE_CALLS + 1];
	bool usable;

	memcpy(own, choice->ns, sizeof(choice->ns));
	own[CHOICE_CALLS] = choice->spoilt;
	own_calls(c, true);
	usable = !PMPI_Allreduce(own, worst, CHOICE_CALLS + 1, MPI_INT64_T, MPI_MAX, c->comm) &&
		 worst[CHOICE_CALLS] == 0;
	own_calls(c, false);
	choice_decide(choice, usable ? worst : NULL, c->measure_calls);
	if (usable && c->rank == 0)
		decision_log(c, choice);
}

void dxp_mpi_call_end(struct dxp_mpi_comm *c)
{
	struct choice *choice;

	if (!c)
		return;
	if (c->nested > 0) {
		c->nested--;
		return;
	}
	c->within = false;
	choice = c->timed;
	if (!choice)
		return;
	c->timed = NULL;
	choice->spoilt = choice->spoilt || c->lost;
	if (choice_record(choice, (int64_t)((PMPI_Wtime() - c->timed_since) * 1e9)))
		decide(c, choice);
}

void mpi_way_log(const struct dxp_mpi_comm *c)
{
	for (int way = 0; c->choices && way < MPI_WAYS; way++) {
		char text[400] = ""; /* long enough for all classes */
		size_t used = 0;

		for (unsigned class = 0; class < CHOICE_CLASSES; class ++) {
			const struct choice *choice = &c->choices->of[way][class];

			if (choice->known && used < sizeof(text))
				used += (size_t)snprintf(text + used, sizeof(text) - used,
							 ", %zu %s", choice_class_bytes(class),
							 choice->ordinary ? "ordinary"
									  : "switches");
		}
		if (used)
			mpi_log(1, c, "measured: %s, bytes and choice: %s", names[way], text + 2);
	}
}
