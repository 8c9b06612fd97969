/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the CPU socket with hwloc, as MPIs do; this includes HWLOC_SYNTHETIC. If hwloc is missing,
 * reads sysfs. */
#include "socket.h"

#ifdef DXP_HWLOC
#include <hwloc.h>

static int socket_of(hwloc_topology_t topology)
{
	hwloc_bitmap_t own = hwloc_bitmap_alloc();
	hwloc_obj_t package = NULL;
	int found = -1;

	if (own && !hwloc_get_cpubind(topology, own, HWLOC_CPUBIND_PROCESS))
		while ((package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)))
			if (hwloc_bitmap_isincluded(own, package->cpuset))
				found = (int)package->logical_index;
	if (own)
		hwloc_bitmap_free(own);
	return found;
}

int mpi_socket_of_this_process(void)
{
	hwloc_topology_t topology;
	int found = -1;

	if (hwloc_topology_init(&topology))
		return -1;
	if (!hwloc_topology_load(topology))
		found = socket_of(topology);
	hwloc_topology_destroy(topology);
	return found;
}
#else
#include <sched.h>
#include <stdio.h>

#include "base/descriptor.h"

static int package_of(int cpu)
{
	char path[96];
	int package = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 cpu);
	f = descriptor_fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &package) != 1)
		package = -1;
	fclose(f);
	return package;
}

int mpi_socket_of_this_process(void)
{
	cpu_set_t own;
	int found = -1;

	if (sched_getaffinity(0, sizeof(own), &own))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int package;

		if (!CPU_ISSET(cpu, &own))
			continue;
		package = package_of(cpu);
		if (package < 0 || (found >= 0 && package != found))
			return -1;
		found = package;
	}
	return found;
}
#endif
