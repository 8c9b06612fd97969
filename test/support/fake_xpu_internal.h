/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake xPU and its fabric, for fake_xpu.c and fake_fabric.c. */
#ifndef TEST_FAKE_XPU_INTERNAL_H
#define TEST_FAKE_XPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "manager/server.h"
#include "node/node.h"
#include "test/support/fake_bridge.h"
#include "test/support/fake_xpu.h"
#include "wire/command.h"

#define XPUS_MAX 4
#define HELD_MAX 8192 /* commands that wait for events, at most */

struct done {
	uint64_t event;
	int status;
};

struct fake_xpu {
	struct node *node;
	pthread_t thread;
	bool started;
	_Atomic bool frozen, direct;
	_Atomic unsigned commands, hurries;
	_Atomic uint32_t pieces;
	_Atomic uint32_t writes, writes_most; /* register writes in this poll; in any poll */
	struct fake_bridge_faults faults;
	uint8_t *memory;
	uint32_t key;
	uint64_t used;
	uint32_t registers[FAKE_REGISTERS];
	struct dxp_target host;
	struct held {
		uint8_t message[COMMAND_BYTES_MAX];
		uint32_t bytes;
	} held[HELD_MAX];
	unsigned held_count;
	struct done done[8192]; /* ring of the last completed events and their statuses */
	unsigned done_count;
};

struct fake_fabric {
	char folder[64], manager[UDP_ADDRESS_TEXT_BYTES];
	struct server *server;
	pthread_t manager_thread;
	bool manager_runs;
	_Atomic bool closing;
	unsigned count;
	struct fake_xpu xpus[XPUS_MAX];
	uint8_t fabric_key[FABRIC_KEY_BYTES];
};

/* the context is a struct fake_xpu */
extern const struct nic_cfg_ops fake_xpu_cfg_ops;
/* Polls one xPU, the struct fake_xpu at `context`. */
void *fake_xpu_run(void *context);

#endif
