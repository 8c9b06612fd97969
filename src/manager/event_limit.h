/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of how often something is logged or answered: a burst, then a mean rate. */
#ifndef MANAGER_EVENT_LIMIT_H
#define MANAGER_EVENT_LIMIT_H

#include <stdint.h>

/* Zeroed: the full burst is left. */
struct event_limit {
	uint64_t free_ns; /* time at which all events are paid for */
};

/* Events of nodes and keys; each class has limits of its own, so that joins suppress no deaths. */
enum event_class {
	EVENT_CLASS_JOIN,
	EVENT_CLASS_LEAVE,
	EVENT_CLASS_DEATH,
	EVENT_CLASS_ROTATION,
	EVENT_CLASSES
};

struct event_classes {
	struct event_limit limits[EVENT_CLASSES];
};

#endif
