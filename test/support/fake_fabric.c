/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric of fake xPUs: a manager, and a thread for each xPU. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/keyfile.h"
#include "test/support/fake_xpu_internal.h"

static void *manager_run(void *context)
{
	struct fake_fabric *f = context;

	server_run(f->server);
	return NULL;
}

static void file_put(const struct fake_fabric *f, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->folder, name);
	FILE *file = fopen(path, "w");
	assert(file);
	fputs(text, file);
	fclose(file);
}

static void manager_open(struct fake_fabric *f)
{
	struct server_options options = {.policy = GRANTS_ANY, .state_folder = f->folder};
	struct udp_address address;
	char path[128];
	int status;

	strcpy(f->folder, "fake-fabric-XXXXXX");
	assert(mkdtemp(f->folder));
	snprintf(path, sizeof(path), "%s/fabric.key", f->folder);
	status = keyfile_create(path, f->fabric_key);
	assert(status == DXP_OK);
	memcpy(options.key, f->fabric_key, sizeof(options.key));
	address_parse("127.0.0.1", 0, &options.bind);
	status = server_open(&options, &f->server);
	assert(status == DXP_OK);
	server_address(f->server, &address);
	file_put(f, "manager", address_format(&address, f->manager));
	f->manager_runs = pthread_create(&f->manager_thread, NULL, manager_run, f) == 0;
	assert(f->manager_runs);
}

static void xpu_open(struct fake_fabric *f, struct fake_xpu *x, unsigned number)
{
	char name[16];
	struct node_options options = {.name = name,
				       .xpu = true,
				       .engine = "toy",
				       .device = "toy",
				       .memory_bytes = FAKE_MEMORY_BYTES,
				       .fabric_key = f->fabric_key,
				       .cfg = &fake_xpu_cfg_ops,
				       .cfg_context = x};
	int status;

	snprintf(name, sizeof(name), "xpu%u", number);
	address_parse(f->manager, 0, &options.manager);
	address_parse("127.0.0.1", 0, &options.bind);
	for (unsigned i = 0; i < FAKE_REGISTERS; i++)
		x->registers[i] = i * 3;
	status = node_open(&options, &x->node);
	assert(status == DXP_OK);
	x->memory = calloc(1, FAKE_MEMORY_BYTES);
	assert(x->memory);
	status = nic_region_register(node_nic(x->node), 0, x->memory, FAKE_MEMORY_BYTES,
				     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &x->key);
	assert(status == DXP_OK);
	status = node_join(x->node, clock_now_ns() + 120 * S_NS);
	assert(status == DXP_OK);
	x->started = pthread_create(&x->thread, NULL, fake_xpu_run, x) == 0;
	assert(x->started);
}

struct fake_fabric *fake_fabric_open(unsigned xpus)
{
	struct fake_fabric *f = calloc(1, sizeof(*f));

	assert(f && xpus <= XPUS_MAX);
	manager_open(f);
	for (unsigned i = 0; i < xpus; i++)
		xpu_open(f, &f->xpus[i], i + 1);
	f->count = xpus;
	return f;
}

void fake_xpu_freeze(struct fake_fabric *f, unsigned index)
{
	struct fake_xpu *x = &f->xpus[index];

	if (!x->started)
		return;
	atomic_store(&x->frozen, true);
	pthread_join(x->thread, NULL);
	x->started = false;
}

void fake_manager_stop(struct fake_fabric *f)
{
	if (!f->manager_runs)
		return;
	server_stop(f->server);
	pthread_join(f->manager_thread, NULL);
	f->manager_runs = false;
}

void fake_fabric_close(struct fake_fabric *f)
{
	char command[128];

	for (unsigned i = 0; i < f->count; i++) {
		fake_xpu_freeze(f, i);
		node_close(f->xpus[i].node);
		free(f->xpus[i].memory);
	}
	fake_manager_stop(f);
	server_close(f->server);
	snprintf(command, sizeof(command), "rm -r '%s'", f->folder);
	if (system(command) != 0)
		fprintf(stderr, "%s is left behind\n", f->folder);
	free(f);
}

const char *fake_fabric_folder(const struct fake_fabric *f)
{
	return f->folder;
}

unsigned fake_xpu_commands(const struct fake_fabric *f, unsigned index)
{
	return atomic_load(&f->xpus[index].commands);
}

unsigned fake_xpu_pieces(const struct fake_fabric *f, unsigned index)
{
	return atomic_load(&f->xpus[index].pieces);
}

unsigned fake_xpu_writes_at_once(const struct fake_fabric *f, unsigned index)
{
	return atomic_load(&f->xpus[index].writes_most);
}

struct fake_bridge_faults *fake_xpu_faults(struct fake_fabric *f, unsigned index)
{
	return &f->xpus[index].faults;
}

void fake_xpu_direct(struct fake_fabric *f, unsigned index)
{
	atomic_store(&f->xpus[index].direct, true);
}

unsigned fake_xpu_hurries(const struct fake_fabric *f, unsigned index)
{
	return atomic_load(&f->xpus[index].hurries);
}

uint8_t *fake_xpu_memory(struct fake_fabric *f, unsigned index)
{
	return f->xpus[index].memory;
}
