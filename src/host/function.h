/* SPDX-License-Identifier: BSD-3-Clause */
/* What both kinds of functions have in common: one that another program's NIC offers (attach.c) and
 * one of a NIC inside this program (embed.c). */
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

/* Mapped by this library; made by dxp_memory_create or, embedded, for dxp_memory_register. */
struct function_memory {
	struct function_memory *next;
	struct local_memory local;
	uint32_t key;
};

/* How each kind does it. All but `ring` are called by one thread at a time, and set the sentence
 * when they fail. */
struct function_ops {
	int (*region_add)(struct dxp_function *f, const struct function_region *r, uint32_t *key);
	int (*region_revoke)(struct dxp_function *f, uint32_t key);
	/* Revoked or not: frees it when nothing points into it any more. */
	void (*memory_free)(struct dxp_function *f, struct function_memory *m);
	int (*area_add)(struct dxp_function *f, const struct nic_area *area);
	int (*find)(struct dxp_function *f, const char *label, uint8_t qp, struct dxp_target *out);
	int (*arm)(struct dxp_function *f, bool on);
	void (*ring)(struct dxp_function *f); /* the engine sleeps: wakes it */
	/* Turns the NIC once; NULL: somebody else does. */
	uint32_t (*turn)(struct dxp_function *f);
	/* Nothing to do at present: until the user is told of an event or `deadline_ns`. */
	void (*sleep)(struct dxp_function *f, uint64_t deadline_ns);
	/* Frees everything, the memories too. */
	void (*close)(struct dxp_function *f);
};

struct dxp_function {
	const struct function_ops *ops;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns; /* of a question to the NIC's program */
	uint32_t armed;
	uint32_t sleeps;                  /* announced so far: another `user_waits` at each */
	struct function_memory *memories; /* that dxp_memory_create made */
};

/* function.c */
void function_init(struct dxp_function *f, const struct function_ops *ops, uint32_t timeout_ms,
		   uint32_t spin_us);

/* NULL, or a label that is one. DXP_EINVAL, with the sentence. */
int function_label_check(const char *label);

/* The words for an error of the NIC; both return `status`. */
int function_area_error(int status, const struct nic_area *area);
int function_find_error(int status, const char *label);

/* function_memory.c */
void function_memories_free(struct function_memory *list);

/* function_wait.c */
/* Of options: 0 is the default; none at all where spinning would only take the time of whoever is
 * awaited, because this process has one CPU. */
uint32_t function_spin_ns(uint32_t spin_us);

/* An event to take. */
bool function_ready(const struct dxp_window *w);

/* Sleeps on `bell` until the engine rings it, `deadline_ns`, or there is something to take already;
 * `other` (-1: none) is watched for its end. Returns whether that came. */
bool function_sleep(struct dxp_function *f, int bell, int other, uint64_t deadline_ns);

#endif
