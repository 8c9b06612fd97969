/* SPDX-License-Identifier: BSD-3-Clause */
/* Flights: DMAs outstanding in a device driver, as asynchronous copies that cannot be aborted.
 *
 * flight_begin adds a flight to a queue, which works in order; flight_launch attaches the driver's
 * last command. The flight completes when that command completes. The driver's callback or a
 * waiting thread reports this. A check every FLIGHT_LOOK_NS also detects it, because callbacks may
 * be late. flights_dequeue dequeues the completion. The flight is freed when the last reference is
 * dropped.
 *
 * A reset marks all outstanding flights: they complete with DXP_EDEVICE once the driver has
 * finished them. Host memory is not returned while the device may write to it, with one exception:
 * a device that does not finish within FLIGHT_LOST_NS is lost. Then all flights complete, none can
 * begin, and the driver's resources stay until the process exits. Thread-safe. */
#ifndef ENGINE_FLIGHT_H
#define ENGINE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct flights;
struct flight;

#define FLIGHT_QUEUES 2 /* to the device, and from it */

struct flights_options {
	/* reports that a completion can be dequeued; may be NULL */
	void (*interrupt)(void *context);
	void *interrupt_context;
	void *driver; /* argument of the functions below */
	/* Checks a command: DXP_OK or DXP_EDEVICE: completed; DXP_EAGAIN: not yet. */
	int (*look)(void *driver, void *command);
	/* Waits for a command, in one thread per queue. DXP_EAGAIN: its state is unknown. A NULL
	 * pointer: callbacks and checks suffice. */
	int (*wait)(void *driver, void *command);
	/* Frees a command. */
	void (*drop)(void *driver, void *command);
	uint32_t queue_flights; /* limit for each queue; 0: FLIGHTS_MAX */
	uint64_t lost_ns;       /* 0: FLIGHT_LOST_NS */
};

/* Creates *out. DXP_ENOMEM. */
int flights_create(const struct flights_options *options, struct flights **out);
/* Waits for outstanding flights; calls no interrupt afterwards. False: the device is lost and may
 * still access the memory of its commands; that memory and this object must stay. */
bool flights_destroy(struct flights *all);

/* Adds a flight, to be launched or abandoned. DXP_EAGAIN: the queue is full, or no memory;
 * DXP_EDEVICE: lost. */
int flight_begin(struct flights *all, uint32_t queue, uint64_t id, struct flight **out);
/* Attaches the last command, freed with the flight. `failed`: the driver accepted only a part, so
 * the flight completes with DXP_EDEVICE after `command`. `callback`: a callback will call
 * flight_land. */
void flight_launch(struct flight *f, void *command, bool failed, bool callback);
/* Completes, with DXP_EDEVICE, a flight without commands in the driver. */
void flight_abandon(struct flight *f);
/* Completes the flight and releases the callback's reference. Called once, by the callback. */
void flight_land(struct flight *f, int status);
void *flight_driver(const struct flight *f);
/* Releases the callback's reference if no callback could be registered. */
void flight_no_callback(struct flight *f);

uint32_t flights_dequeue(struct flights *all, struct engine_dma_end *out, uint32_t count);
void flights_reset(struct flights *all);
bool flights_lost(struct flights *all);

#endif
