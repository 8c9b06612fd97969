/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up one NIC with several functions, one with memory that the NIC cannot address. Include
 * cmocka.h first. */
#ifndef TEST_UNIT_STAGED_RIG_H
#define TEST_UNIT_STAGED_RIG_H

#include "nic/staged.h"
#include "test/support/staged_device.h"
#include "test/unit/local_rig.h"

#define OWNER  1 /* function with staged memory */
#define BYTES  (1u << 19)
#define BUFFER 8192

struct scene {
	struct rig rig;
	struct staged_device device;
	uint32_t key;
};

static inline void scene_make(struct scene *s, const struct staged_options *device,
			      uint32_t functions)
{
	struct nic_options o = rig_options();
	struct staged_options options = *device;

	options.bytes = BYTES;
	rig_make(&s->rig, &o, functions);
	assert_true(staged_device_create(&s->device, &options));
	s->device.nic = s->rig.nic;
	assert_int_equal(nic_region_register_staged(s->rig.nic, OWNER, &staged_device_ops,
						    &s->device, BYTES, RIG_ALL, &s->key),
			 DXP_OK);
	rig_fill(&s->rig, 0, 3);
	for (uint32_t i = 0; i < BYTES; i++)
		s->device.memory[i] = (uint8_t)(i * 13 + 1);
}

static inline void scene_end(struct scene *s)
{
	nic_destroy(s->rig.nic);
	s->rig.nic = NULL;
	staged_device_nic_gone(&s->device);
	if (s->device.broken)
		fail_msg("%s", s->device.broken);
	staged_device_destroy(&s->device);
	rig_end(&s->rig);
}

/* Polls both alternately, in virtual time. */
static inline void scene_run(struct scene *s, uint64_t for_ns)
{
	uint64_t end_ns = s->rig.now_ns + for_ns;

	while (s->rig.now_ns < end_ns) {
		rig_poll(&s->rig);
		while (staged_device_poll(&s->device, s->rig.now_ns))
			;
		uint64_t next_ns =
			min_u64(nic_deadline(s->rig.nic), staged_device_next(&s->device));
		s->rig.now_ns = clamp_u64(next_ns, s->rig.now_ns, end_ns);
	}
	if (s->device.broken)
		fail_msg("%s", s->device.broken);
}

static inline struct dxp_entry staged_entry(const struct scene *s, uint64_t offset, uint32_t bytes)
{
	return (struct dxp_entry){.offset = offset, .bytes = bytes, .key = s->key};
}

static const struct staged_options slow = {
	.buffers = 4, .buffer_bytes = BUFFER, .latency_ns = 50 * US_NS};

#endif
