/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of devices: each xPU that this host is granted and that has an OpenCL engine. The list
 * only grows: the device of a dead node stays and is unavailable. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/object/object.h"

static cl_device_id devices[OPENCL_DEVICES_MAX];
static cl_uint device_count;
/* Ids of nodes without OpenCL device, which are not queried again. */
static uint16_t rejected[OPENCL_DEVICES_MAX];
static uint32_t rejected_count;

static bool is_wanted(const struct dxp_node_info *n)
{
	const struct settings *s = settings_get();

	if (n->kind != DXP_NODE_XPU || !n->granted || !n->alive)
		return false;
	if (s->nodes && !settings_names(s->nodes, n->name))
		return false;
	if (s->engine && strcmp(s->engine, n->engine) != 0)
		return false;
	if (s->node_count && device_count >= s->node_count)
		return false;
	for (uint32_t i = 0; i < rejected_count; i++)
		if (rejected[i] == n->id)
			return false;
	for (cl_uint i = 0; i < device_count; i++)
		if (strcmp(devices[i]->node, n->name) == 0)
			return false;
	return true;
}

static void reject(const struct dxp_node_info *n, const char *why)
{
	if (settings_get()->verbose)
		fprintf(stderr, "dxp: node '%s' is not an OpenCL device: %s\n", n->name, why);
	if (rejected_count < OPENCL_DEVICES_MAX)
		rejected[rejected_count++] = n->id;
}

static void set_name(cl_device_id d)
{
	size_t bytes = 0;
	const char *name = device_about(d, CL_DEVICE_NAME, &bytes);

	if (!name) {
		name = d->caps.device;
		bytes = strlen(name);
	}
	snprintf(d->name, sizeof(d->name), "%.*s on %s",
		 (int)strnlen(name, bytes < 96 ? bytes : 96), name, d->node);
}

static void add(const struct dxp_node_info *n)
{
	cl_device_id d = object_new(OBJECT_DEVICE, sizeof(*d));

	if (!d)
		return;
	snprintf(d->node, sizeof(d->node), "%s", n->name);
	int status = device_open(d);
	bool small = status == DXP_OK && d->caps.free_bytes < settings_get()->memory;
	if (status == DXP_OK && !small) {
		set_name(d);
		d->index = device_count;
		devices[device_count++] = d;
		return;
	}
	/* Such a node is not queried again. The next search tries a node that did not answer. */
	if (small || status == DXP_EUNSUPPORTED)
		reject(n, small ? "less memory is free than DXP_CL_MEM requires"
				: "its engine runs no OpenCL programs");
	else if (settings_get()->verbose)
		fprintf(stderr, "dxp: node '%s' is not used: %s\n", n->name,
			dxp_fabric_error(NULL));
	if (d->xpu)
		dxp_xpu_close(d->xpu);
	free(d->about);
	object_release(d);
}

/* Compares two nodes by their positions in DXP_CL_NODES. */
static int by_name(const void *a, const void *b)
{
	const char *list = settings_get()->nodes;
	const struct dxp_node_info *x = a, *y = b;
	uint32_t first = settings_names(list, x->name), second = settings_names(list, y->name);

	return first < second ? -1 : first > second;
}

static struct dxp_xpu *leaving[OPENCL_DEVICES_MAX * 2];
static uint32_t leaving_count;

static void leave_one(struct dxp_xpu *xpu)
{
	if (xpu)
		leaving[leaving_count++] = xpu;
}

void devices_detach(void)
{
	for (cl_uint i = 0; i < device_count; i++) {
		cl_device_id d = devices[i];
		leave_one(d->xpu);
		leave_one(d->lost);
		d->xpu = d->lost = NULL;
		d->generation++;
	}
}

void devices_close(void)
{
	while (leaving_count)
		dxp_xpu_close(leaving[--leaving_count]);
}

static void lock_for_fork(void)
{
	pthread_mutex_lock(&opencl_lock);
}

static void unlock_in_parent(void)
{
	pthread_mutex_unlock(&opencl_lock);
}

/* The child of a fork does not have the parent's threads, and must not use its connections. So in
 * the child, all devices count as lost, and its exit sends no messages. */
static void leave_in_child(void)
{
	fabric_detach(true);
	devices_detach();
	pthread_mutex_unlock(&opencl_lock);
}

static void watch_forks(void)
{
	static bool watches;

	if (!watches)
		watches = pthread_atfork(lock_for_fork, unlock_in_parent, leave_in_child) == 0;
}

cl_int devices_find(cl_device_id **out, cl_uint *count)
{
	watch_forks();
	struct dxp_fabric *f = fabric_join();
	struct dxp_node_info nodes[OPENCL_DEVICES_MAX];
	int known = f ? dxp_fabric_nodes(f, nodes, OPENCL_DEVICES_MAX) : 0;

	if (known > OPENCL_DEVICES_MAX)
		known = OPENCL_DEVICES_MAX;
	if (known > 0 && settings_get()->nodes)
		qsort(nodes, (size_t)known, sizeof(nodes[0]), by_name);
	for (int i = 0; i < known; i++)
		if (device_count < OPENCL_DEVICES_MAX && is_wanted(&nodes[i]))
			add(&nodes[i]);
	*out = devices;
	*count = device_count;
	return device_count ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

/* Writes at most `space` known devices of this type; returns the number of all. */
static cl_uint known_of_type(cl_device_type type, cl_device_id *out, cl_uint space)
{
	cl_uint found = 0;

	for (cl_uint i = 0; i < device_count; i++) {
		bool is_default =
			i == 0 && type != CL_DEVICE_TYPE_ALL && (type & CL_DEVICE_TYPE_DEFAULT);
		if (!is_default && !(device_type(devices[i]) & type))
			continue;
		if (found < space)
			out[found] = devices[i];
		found++;
	}
	return found;
}

/* Does not search if the known devices fill the space: programs get the number by one call, the
 * devices by a second one, and read as many devices as the second call reports. */
cl_int devices_of_type(cl_device_type type, cl_device_id *out, cl_uint space, cl_uint *count)
{
	const cl_device_type valid = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
				     CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
				     CL_DEVICE_TYPE_CUSTOM;
	cl_device_id *all;
	cl_uint there, found;

	if (type != CL_DEVICE_TYPE_ALL && (!type || type & ~valid))
		return CL_INVALID_DEVICE_TYPE;
	found = known_of_type(type, out, space);
	if (!out || found < space) {
		devices_find(&all, &there);
		found = known_of_type(type, out, space);
	}
	*count = found;
	return found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

/* The standard does not define what a NULL platform means; here, the only platform. */
CL_API_ENTRY cl_int CL_API_CALL dxp_clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
						   cl_uint entries, cl_device_id *out,
						   cl_uint *count)
{
	cl_uint found = 0;

	if (platform && platform != platform_get())
		return CL_INVALID_PLATFORM;
	if ((out && !entries) || (!out && !count))
		return CL_INVALID_VALUE;
	opencl_enter();
	cl_int error = devices_of_type(type, out, out ? entries : 0, &found);
	opencl_leave();
	if (count && (error == CL_SUCCESS || error == CL_DEVICE_NOT_FOUND))
		*count = found;
	return error;
}

/* Retain and release only check the handle: root devices have no reference count. */
static cl_int check(cl_device_id device)
{
	opencl_enter();
	bool valid = object_is(device, OBJECT_DEVICE);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainDevice(cl_device_id device)
{
	return check(device);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseDevice(cl_device_id device)
{
	return check(device);
}
