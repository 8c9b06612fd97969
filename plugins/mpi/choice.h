/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses a way for the calls of one collective and one size class: through switches, or by
 * ordinary MPI (N-12). The first calls alternate between both ways and are timed. Then one decision
 * applies until the next measurement.
 *
 * This is pure state, without MPI. All ranks make the same calls of these functions, and
 * choice_decide() gets the same times on all ranks. So all ranks make the same choice. */
#ifndef MPI_CHOICE_H
#define MPI_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* timed calls of each way in a measurement. The median of 5 ignores two outliers. The first call is
 * often an outlier, because it may open connections. */
#define CHOICE_ROUNDS 5
#define CHOICE_CALLS  (2 * CHOICE_ROUNDS)

/* Size classes. The first is up to 256 bytes (one packet), then there is one for each power of two
 * up to 2 GiB. The last class also contains longer messages. */
#define CHOICE_SHORT_BYTES 256
#define CHOICE_CLASSES     24

/* The number of calls between two measurements grows up to this multiple of its first value. */
#define CHOICE_INTERVALS 16

struct choice {
	bool known;    /* true: a decision was made at least once */
	bool ordinary; /* the choice; true: ordinary MPI */
	/* true: the switches were lost during this measurement, so its times are of no use */
	bool spoilt;
	uint8_t timed; /* calls that this measurement has timed so far */
	int64_t wait;  /* calls until the next measurement */
	int64_t interval;
	int64_t ns[CHOICE_CALLS];         /* times of this measurement on this rank */
	int64_t switches_ns, ordinary_ns; /* medians of the last decision */
};

struct choice_call {
	bool ordinary;
	bool timed; /* the caller must call choice_record() after this call */
};

/* choice_class returns the class of a message length. choice_class_bytes returns the longest length
 * of a class. */
unsigned choice_class(size_t bytes);
size_t choice_class_bytes(unsigned class);

/* Counts a call, and returns how to make it. */
struct choice_call choice_begin(struct choice *c);

/* Stores the time of a timed call. Returns true if the measurement is complete; then the caller
 * must call choice_decide(). */
bool choice_record(struct choice *c, int64_t ns);

/* Decides between the two ways. `ns` has the longest time of all ranks for each timed call. NULL:
 * the measurement is of no use, and the choice stays.
 *
 * The present way stays unless the other one is faster by more than a tenth. Before the first
 * decision, the present way is through switches.
 *
 * `calls`: number of calls until the next measurement, if the choice is the first, is a new one, or
 * `ns` is NULL. Otherwise this number doubles, up to CHOICE_INTERVALS times `calls`. */
void choice_decide(struct choice *c, const int64_t ns[CHOICE_CALLS], int64_t calls);

#endif
