/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the command that made an operation fail: the first one that failed by itself, not because
 * of another command. Prefers a command for which its node sent an error sentence. */
#ifndef COLLECTIVE_CAUSE_H
#define COLLECTIVE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct cause {
	bool found, sentence;
	int status;
	uint32_t index; /* of the command */
};

/* Looks at a complete command of the operation, in the order of posting. Returns true if no later
 * command can be a better cause. */
bool cause_look(struct cause *c, uint32_t index, int status, bool sentence);

#endif
