/* SPDX-License-Identifier: BSD-3-Clause */
/* A process with the engine open and its compiler loaded, which forks a cell whenever the slot asks
 * for one: that takes milliseconds, where a fresh process takes half a second. Cells are its
 * children, so nobody else has to wait for them; it dies with the slot, and they with it.
 *
 * The slot's side is below; the other is zygote_main, which the program of `program` must call when
 * its first argument is ZYGOTE_ARGUMENT. One thread. */
#ifndef CELL_ZYGOTE_H
#define CELL_ZYGOTE_H

#include "cell/cell_message.h"

#define ZYGOTE_ARGUMENT "--cell"

struct zygote;

struct zygote_options {
	const char *program;      /* to start, with its path */
	const char *engine;       /* as engine_options.name */
	const char *cache_folder; /* as engine_options.cache_folder; NULL: none */
	int memory_fd;            /* device memory, and XPU_TAIL_BYTES behind it */
	uint64_t memory_bytes;
	int bell_fd; /* an eventfd: written when there is something for the slot, if it sleeps */
	_Atomic uint32_t *news; /* in the last page of that memory: counts what happened to cells */
	uint32_t spin_ns;       /* as cell_server_options */
};

/* What news says is in the memory's last page. */
#define ZYGOTE_NEWS_OFFSET (XPU_TAIL_BYTES - 4096)

/* Starts it and waits until its engine is open; the options are copied. DXP_EIO: it cannot be
 * started; otherwise statuses of engine_open. Logged. */
int zygote_open(const struct zygote_options *options, struct zygote **out,
		struct engine_description *about);
/* Kills all its cells. NULL is allowed. */
void zygote_close(struct zygote *z);

/* A cell with this id is to serve the rings of `rings_fd`, which may be closed then. DXP_EAGAIN:
 * try again at zygote_deadline: too many are asked for, or the zygote is lost and the next one is
 * not started so soon; DXP_EIO: there is no zygote, and none could be started (logged). */
int zygote_start(struct zygote *z, uint32_t id, int rings_fd);
/* When zygote_start is worth another try. */
uint64_t zygote_deadline(const struct zygote *z);
/* Soon it has ended, if it has not. DXP_EAGAIN: ask again. */
int zygote_kill(struct zygote *z, uint32_t id);

enum zygote_end {
	ZYGOTE_EXITED, /* `number`: with this status */
	ZYGOTE_KILLED, /* `number`: by this signal */
	ZYGOTE_FAILED, /* `number`: the errno with which it could not be started */
};
struct zygote_news {
	uint32_t id;
	uint32_t end; /* enum zygote_end */
	int32_t number;
};
/* What happened to a cell: nothing of it runs any more. False: nothing new. When the zygote itself
 * is lost, all cells have ended without a word: *lost is set then, once. */
bool zygote_next(struct zygote *z, struct zygote_news *out, bool *lost);

/* The other side; `argv` begins behind ZYGOTE_ARGUMENT. Returns when the slot has gone. */
int zygote_main(int argc, char **argv);

#endif
