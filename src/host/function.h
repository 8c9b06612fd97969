/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of functions of another program's NIC (attach.c) and of this program's NIC
 * (embed.c). */
#ifndef HOST_FUNCTION_H
#define HOST_FUNCTION_H

#include <dxp/function.h>

#include "base/spin.h"
#include "link/local.h"
#include "nic/nic.h"

struct function_region {
	int fd;          /* memfd; -1: `base` is memory of this process */
	uint64_t offset; /* offset in the memfd */
	void *base;
	uint64_t bytes;
	uint32_t rights; /* enum dxp_rights */
};

/* Memory that this library mapped: for dxp_memory_create, or for dxp_memory_register of an embedded
 * NIC. */
struct function_memory {
	struct function_memory *next;
	struct local_memory local;
	uint32_t key;
};

/* Operations of one kind of function. One thread at a time calls them; any thread calls `ring`.
 * They set the error text on failure. */
struct function_ops {
	/* Returns the memfd of the window. NULL: it has none. */
	int (*window_fd)(const struct dxp_function *f);
	int (*region_add)(struct dxp_function *f, const struct function_region *r, uint32_t *key);
	int (*region_revoke)(struct dxp_function *f, uint32_t key);
	/* Revokes the key if it is still valid; frees the memory when nothing uses it. */
	void (*memory_free)(struct dxp_function *f, struct function_memory *m);
	int (*area_add)(struct dxp_function *f, const struct nic_area *area);
	int (*find)(struct dxp_function *f, const char *label, uint8_t qp, struct dxp_target *out);
	int (*arm)(struct dxp_function *f, bool on);
	void (*ring)(struct dxp_function *f); /* wakes a sleeping engine */
	/* Polls the NIC once. NULL: another thread or process polls it. */
	uint32_t (*poll)(struct dxp_function *f);
	/* Sleeps until an event or `deadline_ns`. */
	void (*sleep)(struct dxp_function *f, uint64_t deadline_ns);
	/* Frees the function and its memories. */
	void (*close)(struct dxp_function *f);
};

struct dxp_function {
	const struct function_ops *ops;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns; /* limit of a request to the NIC's program */
	uint32_t armed;
	/* number of announced sleeps, the value of `user_waits` */
	uint32_t sleeps;
	struct function_memory *memories; /* made by dxp_memory_create */
};

/* function.c */
void function_init(struct dxp_function *f, const struct function_ops *ops, uint32_t timeout_ms,
		   uint32_t spin_us);

/* Checks a label; NULL is valid. DXP_EINVAL, with the error text set. */
int function_label_check(const char *label);

/* Set the error text for a status of the NIC; return `status`. */
int function_area_error(int status, const struct nic_area *area);
int function_find_error(int status, const char *label);

/* function_memory.c */
void function_memories_free(struct function_memory *list);

/* function_wait.c */
/* Converts the option (0: default) to ns. Returns 0 on a machine with one CPU, because spinning
 * delays the thread whose event is awaited. */
uint32_t function_spin_ns(uint32_t spin_us);

/* Returns whether an event can be dequeued. */
bool function_ready(const struct dxp_window *w);

/* Sleeps until an event, `deadline_ns`, or data on `wakeup`. Returns true if `other` (-1: none) was
 * closed. */
bool function_sleep(struct dxp_function *f, int wakeup, int other, uint64_t deadline_ns);

#endif
