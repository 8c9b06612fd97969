/* SPDX-License-Identifier: BSD-3-Clause */
/* Flights: DMAs that are outstanding in a device driver, as asynchronous copies that cannot be
 * aborted.
 *
 * flight_begin() adds a flight to a queue, which works in order. flight_launch() attaches the
 * driver's last command. The flight completes when that command completes. The driver's callback or
 * a waiting thread reports the completion. Because callbacks may be late, a check every
 * FLIGHT_LOOK_NS also detects it. flights_dequeue() dequeues the completion. The flight is freed
 * when its last reference is dropped.
 *
 * A reset marks all outstanding flights. They complete with DXP_EDEVICE when the driver has
 * finished them. Host memory is not returned while the device may write to it, with one exception:
 * a device that does not finish within FLIGHT_LOST_NS is lost. Then all flights complete, no flight
 * can begin, and the driver's resources stay until the process exits. Thread-safe. */
#ifndef ENGINE_FLIGHT_H
#define ENGINE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct flights;
struct flight;

#define FLIGHT_QUEUES 2 /* queues: one to the device, one from the device */

struct flights_options {
	/* reports that a completion can be dequeued; may be NULL */
	void (*interrupt)(void *context);
	void *interrupt_context;
	void *driver; /* argument of the functions below */
	/* Checks a command. DXP_OK or DXP_EDEVICE: it has completed; DXP_EAGAIN: it has not. */
	int (*look)(void *driver, void *command);
	/* Waits for a command; each queue has a thread that calls it. DXP_EAGAIN: the state of the
	 * command is unknown. NULL: no threads, because callbacks and checks suffice. */
	int (*wait)(void *driver, void *command);
	/* Frees a command. */
	void (*drop)(void *driver, void *command);
	uint32_t queue_flights; /* flights of one queue at most; 0: FLIGHTS_MAX */
	uint64_t lost_ns;       /* ns after a reset until a device is lost; 0: FLIGHT_LOST_NS */
};

/* Creates the queues. DXP_ENOMEM. */
int flights_create(const struct flights_options *options, struct flights **out);
/* Waits for outstanding flights; afterwards no interrupt comes. Returns false if the device still
 * has flights, because it is lost. It may then still access the memory of its commands, so neither
 * that memory nor this object may be freed. */
bool flights_destroy(struct flights *all);

/* Adds a flight, which the caller must launch or abandon. DXP_EAGAIN: the queue is full, or no
 * memory; DXP_EDEVICE: the device is lost. */
int flight_begin(struct flights *all, uint32_t queue, uint64_t id, struct flight **out);
/* Attaches the driver's last command, which is freed with the flight. `failed`: the driver accepted
 * only a part, so the flight completes with DXP_EDEVICE after `command`. `callback`: a callback of
 * the driver will call flight_land(). */
void flight_launch(struct flight *f, void *command, bool failed, bool callback);
/* Completes a flight with DXP_EDEVICE. The driver must have no commands of it. */
void flight_abandon(struct flight *f);
/* Completes the flight and drops the callback's reference. The callback calls this function
 * once. */
void flight_land(struct flight *f, int status);
void *flight_driver(const struct flight *f);
/* Drops the callback's reference, if the callback could not be registered. */
void flight_no_callback(struct flight *f);

uint32_t flights_dequeue(struct flights *all, struct engine_dma_end *out, uint32_t count);
void flights_reset(struct flights *all);
bool flights_lost(struct flights *all);

#endif
