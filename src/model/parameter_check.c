/* SPDX-License-Identifier: BSD-3-Clause */
/* Presets, and combinations that hardware cannot have. */
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/parameter.h"

/* The source's hardware, with these assignments. */
static const struct preset {
	const char *name;
	const char *assignments[8];
} presets[] = {
	{"source", {NULL}},
	{"gen3",
	 {"pcie=3x8", "datapath_bytes=32", "extract_bytes=16", "mtu_bytes=256", "mps_bytes=256",
	  "request_bytes=512", "tags=64"}},
	{"gen4-512",
	 {"pcie=4x8", "datapath_bytes=64", "extract_bytes=32", "mtu_bytes=512", "mps_bytes=512",
	  "request_bytes=512", "tags=256"}},
	{"gen5-1024",
	 {"pcie=5x8", "datapath_bytes=128", "extract_bytes=64", "mtu_bytes=1024", "mps_bytes=512",
	  "request_bytes=1024", "tags=512"}},
};

int model_parameters_preset(struct model_parameters *p, const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(presets); i++) {
		if (strcmp(presets[i].name, name) != 0)
			continue;
		model_parameters_default(p);
		for (size_t k = 0; k < ARRAY_COUNT(presets[i].assignments); k++)
			if (presets[i].assignments[k] &&
			    model_parameters_set(p, presets[i].assignments[k]))
				return DXP_EINVAL;
		return DXP_OK;
	}
	return error_set(DXP_ENOENT,
			 "there is no preset '%s'; there are source, gen3, gen4-512, gen5-1024",
			 name);
}

/* kB/s of a lane by generation: transfers per second x coding, 8b/10b up to 2, then 128b/130b. */
static const int64_t lane_kbps[] = {0, 250000, 500000, 984615, 1969231, 3938462};

int64_t model_pcie_rate(const struct model_parameters *p)
{
	return lane_kbps[p->pcie_generation] * p->pcie_lanes / 1000;
}

static bool power_of_two(int64_t v)
{
	return v > 0 && (v & (v - 1)) == 0;
}

static int check_powers(const struct model_parameters *p)
{
	const struct {
		const char *name;
		int64_t value;
	} powers[] = {
		{"datapath_bytes", p->datapath_bytes}, {"mtu_bytes", p->mtu_bytes},
		{"request_bytes", p->request_bytes},   {"mps_bytes", p->mps_bytes},
		{"boundary_bytes", p->boundary_bytes}, {"pcie_lanes", p->pcie_lanes},
	};
	for (size_t i = 0; i < ARRAY_COUNT(powers); i++)
		if (!power_of_two(powers[i].value))
			return error_set(DXP_EINVAL, "%s=%lld is not a power of two",
					 powers[i].name, (long long)powers[i].value);
	return DXP_OK;
}

/* Tags have 8 bits up to generation 3, then 10 bits with 768 usable values. */
static int check_tags(const struct model_parameters *p)
{
	int64_t most = p->pcie_generation < 4 ? 256 : 768;

	if (p->tags <= most)
		return DXP_OK;
	return error_set(DXP_EINVAL,
			 "tags=%lld: the tag field of PCIe %lld holds %lld; allowed: 1 to %lld",
			 (long long)p->tags, (long long)p->pcie_generation, (long long)most,
			 (long long)most);
}

static int check_datapath(const struct model_parameters *p)
{
	int64_t datapath = p->datapath_bytes * p->clock_mhz, link = model_pcie_rate(p);

	if (datapath < link)
		return error_set(DXP_EINVAL,
				 "datapath_bytes=%lld x clock_mhz=%lld is %lld MB/s, below the "
				 "link's %lld MB/s; allowed: a product from %lld on",
				 (long long)p->datapath_bytes, (long long)p->clock_mhz,
				 (long long)datapath, (long long)link, (long long)link);
	if (p->extract_bytes > p->datapath_bytes)
		return error_set(DXP_EINVAL,
				 "extract_bytes=%lld exceeds the datapath; allowed: 1 to %lld",
				 (long long)p->extract_bytes, (long long)p->datapath_bytes);
	if (p->mtu_bytes < p->datapath_bytes)
		return error_set(DXP_EINVAL,
				 "mtu_bytes=%lld is less than a beat; allowed: %lld to 4096",
				 (long long)p->mtu_bytes, (long long)p->datapath_bytes);
	return DXP_OK;
}

static int check_crossbar(const struct model_parameters *p)
{
	if (p->channels > p->ports)
		return error_set(DXP_EINVAL,
				 "channels=%lld: port d uses channel d mod channels, so more than "
				 "ports=%lld stay empty; allowed: 1 to %lld",
				 (long long)p->channels, (long long)p->ports, (long long)p->ports);
	if (p->ports == 1 && !p->own_port)
		return error_set(DXP_EINVAL, "ports=1 with own_port=no has no destination; "
					     "allowed: 2 to 64");
	return DXP_OK;
}

int model_parameters_check(const struct model_parameters *p)
{
	int status = check_powers(p);

	if (!status)
		status = check_datapath(p);
	if (!status)
		status = check_tags(p);
	if (!status && p->immediate_offset_bytes >= p->descriptor_bytes)
		status = error_set(DXP_EINVAL,
				   "immediate_offset_bytes=%lld is behind a descriptor of %lld B; "
				   "allowed: 0 to %lld",
				   (long long)p->immediate_offset_bytes,
				   (long long)p->descriptor_bytes,
				   (long long)p->descriptor_bytes - 1);
	return status ? status : check_crossbar(p);
}
