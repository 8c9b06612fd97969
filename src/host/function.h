/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of the two kinds of functions: functions of another program's NIC (attach.c), and
 * functions of this program's NIC (embed.c). */
#ifndef HOST_FUNCTION_H
#define HOST_FUNCTION_H

#include <dxp/function.h>

#include "base/spin.h"
#include "link/local.h"
#include "nic/nic.h"

struct function_region {
	int fd;          /* memfd; -1: the region is `base`, memory of this process */
	uint64_t offset; /* start of the region in the memfd, in bytes */
	void *base;
	uint64_t bytes;
	uint32_t rights; /* enum dxp_rights */
};

/* Memory that this library mapped, for dxp_memory_create. Also for dxp_memory_register, if the NIC
 * is embedded. */
struct function_memory {
	struct function_memory *next;
	struct local_memory local;
	uint32_t key;
};

/* Operations of one kind of function. Only one thread at a time may call them, except `ring`, which
 * any thread may call. On failure, they set the error text. */
struct function_ops {
	/* Returns the memfd of the window. The pointer is NULL if the window has none. */
	int (*window_fd)(const struct dxp_function *f);
	int (*region_add)(struct dxp_function *f, const struct function_region *r, uint32_t *key);
	int (*region_revoke)(struct dxp_function *f, uint32_t key);
	/* Revokes the key if it is still valid. Frees the memory when nothing uses it. */
	void (*memory_free)(struct dxp_function *f, struct function_memory *m);
	int (*area_add)(struct dxp_function *f, const struct nic_area *area);
	int (*find)(struct dxp_function *f, const char *label, uint8_t qp, struct dxp_target *out);
	int (*arm)(struct dxp_function *f, bool on);
	void (*ring)(struct dxp_function *f); /* wakes a sleeping engine */
	/* Polls the NIC once. The pointer is NULL if another thread or process polls it. */
	uint32_t (*poll)(struct dxp_function *f);
	/* Sleeps until an event arrives or `deadline_ns` has passed. */
	void (*sleep)(struct dxp_function *f, uint64_t deadline_ns);
	/* Frees the function and its memories. */
	void (*close)(struct dxp_function *f);
};

struct dxp_function {
	const struct function_ops *ops;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns; /* time limit of a request to the NIC's program */
	uint32_t armed;
	/* number of sleeps that were announced; written to `user_waits` in the window */
	uint32_t sleeps;
	struct function_memory *memories; /* list of memories from dxp_memory_create */
};

/* function.c */
void function_init(struct dxp_function *f, const struct function_ops *ops, uint32_t timeout_ms,
		   uint32_t spin_us);

/* Checks a function's label; NULL is valid. DXP_EINVAL, with the error text set. */
int function_label_check(const char *label);

/* Set the error text for a status that the NIC returned; return `status`. */
int function_area_error(int status, const struct nic_area *area);
int function_find_error(int status, const char *label);

/* function_memory.c */
void function_memories_free(struct function_memory *list);

/* function_wait.c */
/* Converts the option `spin_us` (0: default) to ns. Returns 0 if `spin_us` is UINT32_MAX, or if
 * only one CPU is available, because spinning would delay the thread that causes the event. */
uint32_t function_spin_ns(uint32_t spin_us);

/* Returns true if an event can be dequeued. */
bool function_ready(const struct dxp_window *w);

/* Sleeps until an event arrives, `deadline_ns` has passed, or descriptor `wakeup` is readable.
 * Returns true if the peer closed the socket `other` (-1: none). */
bool function_sleep(struct dxp_function *f, int wakeup, int other, uint64_t deadline_ns);

#endif
