/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the state machine of a node's offers without sockets. Include cmocka.h first. */
#ifndef TEST_UNIT_OFFER_TABLE_RIG_H
#define TEST_UNIT_OFFER_TABLE_RIG_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/local.h"
#include "nic/limits.h"
#include "node/offer.h"

#define NODE_NAME "box"
#define PAGE      4096

struct rig {
	struct nic *nic;
	struct offer *offer;
	struct dxp_window *own; /* of function 0, used by the NIC's own program */
	uint64_t now_ns, malformed;
	int armed;
	int user_fds[NIC_USERS];
	uint32_t functions;
	/* last answer, and its descriptors */
	struct attach_answer answer;
	struct offer_fds beside;
};

static inline int find(void *context, const char *name, struct dxp_target *out)
{
	if (strcmp(name, "far") != 0)
		return strcmp(name, "secret") == 0 ? DXP_EACCESS : DXP_ENOENT;
	*out = (struct dxp_target){.node = 9, .magic = 99};
	return DXP_OK;
}

static inline void arm(void *context, int delta)
{
	struct rig *r = context;

	r->armed += delta;
}

static inline int users(void *context, uint32_t user, int engine_fd, int user_fd)
{
	struct rig *r = context;

	r->user_fds[user] = user_fd;
	return DXP_OK;
}

static inline int rig_open_with(struct rig *r, uint32_t functions)
{
	const struct nic_options nic = {.node = 5, .entropy = rng_entropy_kernel};

	*r = (struct rig){.functions = functions, .malformed = 3};
	assert_int_equal(nic_create(&nic, &r->nic), DXP_OK);
	r->own = aligned_alloc(PAGE, sizeof(*r->own));
	assert_non_null(r->own);
	memset(r->own, 0, sizeof(*r->own));
	assert_int_equal(nic_function_open(r->nic, 0, r->own), DXP_OK);
	const struct offer_options offer = {.nic = r->nic,
					    .name = NODE_NAME,
					    .functions = functions,
					    .ops = {find, arm, users, r},
					    .malformed = &r->malformed};
	assert_int_equal(offer_create(&offer, &r->offer), DXP_OK);
	return 0;
}

static inline int rig_open(void **state)
{
	*state = malloc(sizeof(struct rig));
	return *state ? rig_open_with(*state, NIC_FUNCTIONS - 1) : -1;
}

static inline struct offer_mapped mapped(const struct rig *r)
{
	struct offer_mapped m;

	offer_mapped(r->offer, &m);
	return m;
}

static inline int rig_close(void **state)
{
	struct rig *r = *state;

	offer_destroy(r->offer, ++r->now_ns);
	assert_int_equal(r->armed, 0);
	nic_destroy(r->nic);
	free(r->own);
	free(r);
	return 0;
}

static inline int request_send(struct rig *r, struct offer_client *c, struct attach_request request,
			       int fd)
{
	offer_request(r->offer, c, &request, fd, ++r->now_ns, &r->answer, &r->beside);
	assert_int_equal(r->answer.type, request.type);
	assert_int_equal(r->beside.count,
			 request.type == ATTACH_OPEN && r->answer.status == DXP_OK ? 3 : 0);
	return r->answer.status;
}

static inline int open_function(struct rig *r, struct offer_client *c, uint8_t function,
				const char *label)
{
	struct attach_request request = {.type = ATTACH_OPEN, .function = function};

	strcpy(request.label, label);
	return request_send(r, c, request, -1);
}

static inline int row(struct rig *r, uint8_t function, struct attach_row *out)
{
	struct offer_client manager = {.manages = true};
	int status = request_send(
		r, &manager, (struct attach_request){.type = ATTACH_LIST, .function = function},
		-1);

	if (status == DXP_OK)
		*out = r->answer.rows[0];
	return status;
}

static inline int register_memory(struct rig *r, struct offer_client *c, int fd, uint64_t bytes,
				  uint32_t *key)
{
	int status =
		request_send(r, c,
			     (struct attach_request){.type = ATTACH_REGISTER,
						     .bytes = bytes,
						     .rights = NIC_REMOTE_READ | NIC_REMOTE_WRITE},
			     fd);

	if (status == DXP_OK && key)
		*key = r->answer.key;
	return status;
}

#endif
