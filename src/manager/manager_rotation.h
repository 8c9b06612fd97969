/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's key pair that an operator has put in the place of the one in manager.key. During
 * the overlap, the manager accepts requests for the former one too, and sends nodes the new public
 * key in LEASEs, which the former key pair authenticates. */
#ifndef MANAGER_MANAGER_ROTATION_H
#define MANAGER_MANAGER_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "keys/primitives.h"
#include "manager/rotation_clock.h"

/* s; the ms of an overlap must fit 32 bits */
#define MANAGER_OVERLAP_MAX_S 3456000
/* s. Nodes learn the new key only during the overlap: several leases, also after a restart of the
 * manager. */
#define MANAGER_OVERLAP_MIN_S 20

/* The key pair as the store has it. */
struct manager_row {
	uint32_t generation; /* number of rotations; 0: none */
	uint32_t overlap_s;
	uint64_t rotated_ms; /* ms since 1970, by the manager's clock */
	/* private keys; `former` is zero after the overlap */
	uint8_t key[KEYS_BYTES], former[KEYS_BYTES];
};

struct manager_rotation {
	struct manager_row row;
	bool dirty;
	bool overlap; /* the former key pair is accepted */
	uint8_t former_public[KEYS_BYTES];
	struct rotation_clock clock;
};

/* Returns the ms in which the former key pair is accepted. */
uint32_t manager_rotation_former_ms(const struct manager_rotation *m, uint64_t now_ns);

#endif
