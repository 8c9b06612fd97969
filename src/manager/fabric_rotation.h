/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric key that an operator has put in the place of the one in the manager's key file.
 *
 *   time after the rotation   what nodes do
 *   0                         accept both keys, and send with the former one
 *   FABRIC_REKEY_USE_MS       send with the new key
 *   the overlap               accept the new key only
 *
 * An overlap that is shorter than FABRIC_REKEY_USE_MS ends both at once. After the start of a
 * manager, both last at least FABRIC_TERM_USE_MS and FABRIC_TERM_FORMER_MS, or the overlap if it is
 * shorter. */
#ifndef MANAGER_FABRIC_ROTATION_H
#define MANAGER_FABRIC_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "manager/rotation_clock.h"

/* ms; by then each node has renewed its lease twice, and so has the key */
#define FABRIC_REKEY_USE_MS 2000
/* ms since the manager's start: the longest wait of a node between two requests (2.5 s), and then
 * handshakes that have begun */
#define FABRIC_TERM_USE_MS    3000
#define FABRIC_TERM_FORMER_MS 5000
/* s; long overlaps let a removed node use the former key */
#define FABRIC_OVERLAP_MAX_S 86400

/* The rotated key as the store has it. */
struct fabric_row {
	uint32_t generation; /* number of rotations; 0: none */
	uint32_t overlap_s;
	uint64_t rotated_ms; /* ms since 1970, by the manager's clock */
	uint8_t key[FABRIC_KEY_BYTES];
};

struct fabric_rotation {
	struct fabric_row row;
	bool dirty;
	struct rotation_clock clock;
};

/* Return the ms until nodes send with the new key, and until they refuse the former one. */
uint32_t fabric_rotation_use_ms(const struct fabric_rotation *f, uint64_t now_ns);
uint32_t fabric_rotation_former_ms(const struct fabric_rotation *f, uint64_t now_ns);

#endif
