/* SPDX-License-Identifier: BSD-3-Clause */
/* DMAs that a device's driver has under way: which, how each ended, and what a reset means for a
 * driver that cannot abort any. For engines whose DMA is a driver's asynchronous copy.
 *
 * A flight begins in a queue, which works in order; it is launched with the driver's command that
 * ends last; it ends once, told by whoever learns of it first: the driver's callback, a waiting
 * thread, or a look at the command every FLIGHT_LOOK_NS, because callbacks may come late. Its end
 * is then taken. It lives until all who may still name it have let go of it.
 *
 * A reset marks what is under way: it ends, when the driver has really done with it, as
 * DXP_EDEVICE. Host memory is never given back while the device may still write there, but for one
 * case: a device that does not come back within FLIGHT_LOST_NS is lost. Then all ends, nothing
 * begins any more, and what the driver holds is left to the end of the process. Thread-safe. */
#ifndef ENGINE_FLIGHT_H
#define ENGINE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct flights;
struct flight;

#define FLIGHT_QUEUES 2 /* towards the device, and from it */

struct flights_options {
	void (*interrupt)(void *context); /* something can be taken; may be NULL */
	void *interrupt_context;
	void *driver; /* for the calls below */
	/* Has it ended? DXP_OK, DXP_EDEVICE, or DXP_EAGAIN: not yet. */
	int (*look)(void *driver, void *command);
	/* Waits until it has ended, on a thread of its own for each queue; DXP_EAGAIN: that cannot
	 * be told now. NULL: callbacks and looks do. */
	int (*wait)(void *driver, void *command);
	/* The command is of no more use. */
	void (*drop)(void *driver, void *command);
	uint32_t queue_flights; /* of each queue at once; 0: FLIGHTS_MAX */
	uint64_t lost_ns;       /* 0: FLIGHT_LOST_NS */
};

/* DXP_ENOMEM. */
int flights_create(const struct flights_options *options, struct flights **out);
/* Waits for what is under way; the interrupt is called no more. False: the device is lost and may
 * still use what its commands name, which must stay; so does the object. */
bool flights_destroy(struct flights *all);

/* *out must be launched, or flown no further with flight_abandon. DXP_EAGAIN: the queue is full, or
 * there is no memory; DXP_EDEVICE: lost. */
int flight_begin(struct flights *all, uint32_t queue, uint64_t id, struct flight **out);
/* `command` ends last and is dropped with the flight. `failed`: not all of it could be given to the
 * driver: it ends with DXP_EDEVICE when `command` has. `callback`: one will call flight_land. */
void flight_launch(struct flight *f, void *command, bool failed, bool callback);
/* Nothing of it was given to the driver: it ends now, with DXP_EDEVICE. */
void flight_abandon(struct flight *f);
/* By the callback, once: it has ended so. The flight is not to be named after. */
void flight_land(struct flight *f, int status);
/* As in the options. */
void *flight_driver(const struct flight *f);
/* The callback that was announced cannot be had. */
void flight_no_callback(struct flight *f);

uint32_t flights_take(struct flights *all, struct engine_dma_end *out, uint32_t count);
void flights_reset(struct flights *all);
bool flights_lost(struct flights *all);

#endif
