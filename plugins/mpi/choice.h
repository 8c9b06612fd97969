/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the way of the calls of one collective and one size class: through switches, or by
 * ordinary MPI (N-12). The first calls alternate between both ways and are timed. Then one decision
 * applies until the next measurement. Pure state, without MPI: all ranks make the same calls of
 * these functions, and choice_decide() gets the same times on all ranks. So all ranks choose
 * alike. */
#ifndef MPI_CHOICE_H
#define MPI_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* calls of each way in a measurement. The median ignores two outliers, such as the first call,
 * which may open connections. */
#define CHOICE_ROUNDS 5
#define CHOICE_CALLS  (2 * CHOICE_ROUNDS)

/* Size classes: up to 256 bytes (one packet), then each power of two up to 2 GiB. The last class
 * also has longer messages. */
#define CHOICE_SHORT_BYTES 256
#define CHOICE_CLASSES     24

/* largest number of calls between two measurements, as a multiple of the first */
#define CHOICE_INTERVALS 16

struct choice {
	bool known;    /* decided at least once */
	bool ordinary; /* the choice */
	bool spoilt;   /* the switches were lost during this measurement */
	uint8_t timed; /* calls of this measurement so far */
	int64_t wait;  /* calls until the next measurement */
	int64_t interval;
	int64_t ns[CHOICE_CALLS];         /* this rank's times of this measurement */
	int64_t switches_ns, ordinary_ns; /* medians of the last decision */
};

/* Way of one call. */
struct choice_call {
	bool ordinary;
	bool timed; /* the caller must call choice_record() after this call */
};

/* Return the class of a length, and the longest length of a class. */
unsigned choice_class(size_t bytes);
size_t choice_class_bytes(unsigned class);

/* Counts a call, and returns its way. */
struct choice_call choice_begin(struct choice *c);

/* Stores the time of a timed call. Returns whether the measurement is complete; then the caller
 * must call choice_decide(). */
bool choice_record(struct choice *c, int64_t ns);

/* Decides. `ns`: for each call the longest time of all ranks; NULL: the measurement is of no use,
 * and the choice stays. Keeps the present way unless the other one is faster by a tenth. The first
 * way is through switches. `calls`: calls until the next measurement. This number doubles each time
 * the choice stays, up to CHOICE_INTERVALS times the first. */
void choice_decide(struct choice *c, const int64_t ns[CHOICE_CALLS], int64_t calls);

#endif
