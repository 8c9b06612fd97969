/* SPDX-License-Identifier: BSD-3-Clause */
/* Flights: asynchronous copies in a device driver that cannot be aborted.
 *
 * flight_begin() adds a flight to a queue, which works in order, and flight_launch() attaches the
 * driver's last command, with which it completes: a callback or a waiting thread reports that, and
 * a check every FLIGHT_LOOK_NS covers late callbacks.
 *
 * A reset marks all outstanding flights: they complete with DXP_EDEVICE when the driver has
 * finished them. Host memory is not returned while the device may write to it, unless the device
 * does not finish within FLIGHT_LOST_NS and is lost. Then all flights complete, none can begin, and
 * the driver's resources stay until the process exits. Thread-safe. */
#ifndef ENGINE_FLIGHT_H
#define ENGINE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct flights;
struct flight;

#define FLIGHT_QUEUES 2 /* one queue to the device, one from the device */

struct flights_options {
	/* a completion can be dequeued; may be NULL */
	void (*interrupt)(void *context);
	void *interrupt_context;
	void *driver; /* argument of the functions below */
	/* DXP_EAGAIN: not complete; DXP_OK, DXP_EDEVICE: complete. */
	int (*look)(void *driver, void *command);
	/* Waits for a command, in a thread per queue. DXP_EAGAIN: state unknown. NULL: no threads;
	 * callbacks and checks suffice. */
	int (*wait)(void *driver, void *command);
	void (*drop)(void *driver, void *command);
	uint32_t queue_flights; /* flights of one queue; 0: FLIGHTS_MAX */
	uint64_t lost_ns;       /* ns from a reset to a lost device; 0: FLIGHT_LOST_NS */
};

/* DXP_ENOMEM. */
int flights_create(const struct flights_options *options, struct flights **out);
/* Waits for outstanding flights; afterwards no interrupt comes. False: the device is lost and may
 * still access memory of its commands, so neither that nor this object may be freed. */
bool flights_destroy(struct flights *all);

/* The caller must launch or abandon the flight. DXP_EAGAIN: the queue is full, or no memory;
 * DXP_EDEVICE: the device is lost. */
int flight_begin(struct flights *all, uint32_t queue, uint64_t id, struct flight **out);
/* `command` is freed with the flight. `failed`: the driver accepted only a part, so the flight
 * fails after `command`. `callback`: the driver will call flight_land(). */
void flight_launch(struct flight *f, void *command, bool failed, bool callback);
/* Completes a flight with DXP_EDEVICE; the driver must have no command of it. */
void flight_abandon(struct flight *f);
/* Called once by the callback, whose reference it drops. */
void flight_land(struct flight *f, int status);
void *flight_driver(const struct flight *f);
/* The callback could not be registered: drops its reference. */
void flight_no_callback(struct flight *f);

uint32_t flights_dequeue(struct flights *all, struct engine_dma_end *out, uint32_t count);
void flights_reset(struct flights *all);
bool flights_lost(struct flights *all);

#endif
