/* SPDX-License-Identifier: BSD-3-Clause */
/* Where kernels run: the slot's side of it. A cell is a thread of this process that serves all
 * hosts of a slot, or a process that serves one host: the same code behind the same two rings
 * (cell_server.h). Orders are done one after another; each ends once, also when the cell is lost.
 *
 * One thread: the slot's. */
#ifndef XPU_CELL_H
#define XPU_CELL_H

#include <pthread.h>
#include <stdbool.h>

#include "cell/cell_message.h"

struct slot;
struct tenant;
struct order;

struct order_end {
	int status;
	int32_t native; /* what the device's driver said of a failure; 0: nothing */
	bool ran;       /* the cell has said so; else it was lost, or never there */
	uint64_t started_ns, ended_ns;
	const char *text; /* of a failure, or "" */
};

struct order_ops {
	/* A part of what the order brings: CELL_LOG or CELL_DATA; NULL: it brings none. */
	void (*data)(struct order *o, uint32_t kind, const void *data, uint32_t bytes);
	void (*end)(struct order *o, const struct order_end *end); /* the last call */
};

/* Part of its owner's struct, which stays until `end`, with what `parts` points to. */
struct order {
	struct order *next;
	struct tenant *tenant;
	const struct order_ops *ops;
	uint32_t kind; /* enum cell_order_kind */
	struct cell_parts parts;
};

struct cell {
	struct slot *slot;
	struct tenant *tenant; /* NULL: everybody's, a thread */
	uint32_t id;           /* of a process */
	int rings_fd;          /* of a process that may still have to be started (again), else -1 */
	uint32_t starts;       /* how often the zygote was asked for it */
	bool asked;            /* the present zygote was */
	struct cell_rings *rings;
	struct cell_side orders, answers;
	struct order *first, **tail; /* all that have not ended, oldest first */
	struct order *unposted;      /* the first that there was no room for */
	uint32_t ended;              /* orders so far */
	struct {
		uint32_t ended;    /* the count when the order that is first now was first seen */
		bool seen, told;   /* it has been; its host has heard that it runs */
		uint64_t since_ns; /* it is the first */
	} running;
	uint32_t commands; /* for who posts them to count: of the engine's lane, and not ended */
	bool started;      /* there is a thread, or a process that will tell its end */
	bool ends;         /* it is to be killed */
	bool told;         /* ... and that has been said */
	pthread_t thread;
};

/* DXP_ENOMEM; DXP_EIO: no thread (logged). */
int cell_open_thread(struct slot *s, struct cell **out);
/* A process, which maps what its host owns and builds its programs again. It may fail to start
 * later: then it ends as one that was lost. DXP_ENOMEM, DXP_EIO. */
int cell_open_process(struct tenant *t, struct cell **out);
/* A process that could not be asked for yet, because its zygote is lost and the next one may not be
 * started so soon: its orders wait. */
bool cell_waits(const struct cell *c);
/* Asks for it again. DXP_EAGAIN: not yet; otherwise as zygote_start. */
int cell_begin(struct cell *c);
/* The zygote is lost. True: this process has not taken any order, so it can be started once more:
 * it waits then. */
bool cell_begin_again(struct cell *c);
/* A thread, when the order that it is at has ended; others have ended with DXP_ECLOSED. A process
 * that nobody waits for any more. */
void cell_close(struct cell *c);

/* Takes the order. */
void cell_post(struct cell *c, struct order *o);
/* A process is to end, soon: cell_lost is called then. */
void cell_kill(struct cell *c);
/* Takes answers and posts what there is room for. Returns how much happened. */
uint32_t cell_turn(struct cell *c);
/* Nothing runs there any more: takes the last answers; everything else ends with `status`. */
void cell_lost(struct cell *c, int status);
/* Tells of a command that has been running for XPU_BEGUN_NS, once; how many. */
uint32_t cell_begun_tell(struct cell *c, uint64_t now_ns);
/* When cell_begun_tell must be called again; UINT64_MAX: nothing to be told runs. */
uint64_t cell_begun_deadline(const struct cell *c);
/* Before sleeping: false: there is something for cell_turn. */
bool cell_asleep(struct cell *c);
void cell_awake(struct cell *c);

#endif
