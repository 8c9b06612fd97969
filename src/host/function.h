/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of functions of another program's NIC (attach.c) and of a NIC inside this
 * program (embed.c). */
#ifndef HOST_FUNCTION_H
#define HOST_FUNCTION_H

#include <dxp/function.h>

#include "base/spin.h"
#include "link/local.h"
#include "nic/nic.h"

struct function_region {
	int fd;          /* a memfd, or -1: `base` is memory of this process */
	uint64_t offset; /* in the memfd */
	void *base;
	uint64_t bytes;
	uint32_t rights; /* enum dxp_rights */
};

/* Mapped by this library, for dxp_memory_create or, embedded, dxp_memory_register. */
struct function_memory {
	struct function_memory *next;
	struct local_memory local;
	uint32_t key;
};

/* Operations of a kind. Called by one thread at a time, except `ring`. They set the error text
 * on failure. */
struct function_ops {
	int (*region_add)(struct dxp_function *f, const struct function_region *r, uint32_t *key);
	int (*region_revoke)(struct dxp_function *f, uint32_t key);
	/* Revokes the key if needed; frees the memory when nothing uses it. */
	void (*memory_free)(struct dxp_function *f, struct function_memory *m);
	int (*area_add)(struct dxp_function *f, const struct nic_area *area);
	int (*find)(struct dxp_function *f, const char *label, uint8_t qp, struct dxp_target *out);
	int (*arm)(struct dxp_function *f, bool on);
	void (*ring)(struct dxp_function *f); /* wakes a sleeping engine */
	/* Polls the NIC once. NULL: it is polled elsewhere. */
	uint32_t (*poll)(struct dxp_function *f);
	/* Sleeps until an event or `deadline_ns`. */
	void (*sleep)(struct dxp_function *f, uint64_t deadline_ns);
	/* Frees everything, including the memories. */
	void (*close)(struct dxp_function *f);
};

struct dxp_function {
	const struct function_ops *ops;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns; /* of a request to the NIC's program */
	uint32_t armed;
	uint32_t sleeps;                  /* sleeps announced; each writes a new `user_waits` */
	struct function_memory *memories; /* made by dxp_memory_create */
};

/* function.c */
void function_init(struct dxp_function *f, const struct function_ops *ops, uint32_t timeout_ms,
		   uint32_t spin_us);

/* Accepts NULL or a valid label. DXP_EINVAL, with the error text set. */
int function_label_check(const char *label);

/* Sets the error text for a status of the NIC; returns `status`. */
int function_area_error(int status, const struct nic_area *area);
int function_find_error(int status, const char *label);

/* function_memory.c */
void function_memories_free(struct function_memory *list);

/* function_wait.c */
/* Converts the option; 0: the default. Returns 0 on one CPU, where spinning only delays the
 * thread awaited. */
uint32_t function_spin_ns(uint32_t spin_us);

/* Returns whether an event can be dequeued. */
bool function_ready(const struct dxp_window *w);

/* Sleeps until the wakeup `wakeup`, `deadline_ns` or an event. Returns whether `other` (-1: none)
 * was closed. */
bool function_sleep(struct dxp_function *f, int wakeup, int other, uint64_t deadline_ns);

#endif
