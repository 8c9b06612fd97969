/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a node: its socket, its NIC and its membership. */
#include "node/node.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"
#include "wire/ids.h"

/* bytes of socket buffer that the kernel counts per packet in the worst case: an skb for a
 * 9000-byte MTU */
#define BUFFER_PER_PACKET 16384

/* Computes the token of session `id`. The token proves that a RESET comes from this node. It is a
 * keyed hash of this node's uuid and the id. */
static uint64_t token_of(void *context, uint32_t id)
{
	struct node *n = context;
	uint8_t name[4], digest[MAC_BYTES];

	put_be32(name, id);
	mac_compute(n->mac, n->uuid, sizeof(n->uuid), name, sizeof(name), digest);
	return get_be64(digest);
}

/* Returns a number that grows with each start of the node: milliseconds since 1970, then 16 random
 * bits. */
static uint64_t incarnation_draw(void)
{
	struct timespec t;
	uint16_t random;

	clock_gettime(CLOCK_REALTIME, &t);
	rng_entropy_kernel(NULL, &random, sizeof(random));
	return ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / MS_NS) << 16 | random;
}

static int link_start(struct node *n)
{
	uint32_t spin_ns = n->options.spin_ns;
	struct link_options options = {
		.bind = n->options.bind,
		.crossbar = n->options.crossbar,
		.whole = true,
		.frame_bytes = wire_frame_bytes,
		.spin_ns = spin_ns == 0            ? WAIT_SPIN_NS
			   : spin_ns == UINT32_MAX ? 0
						   : spin_ns,
	};

	for (uint32_t i = 0; i < n->options.bind_ports; i++) {
		options.choosy = true;
		options.bind.port = (uint16_t)(n->options.bind.port + i);
		int status = link_open(&options, &n->link);
		if (status != DXP_EBUSY)
			return status;
	}
	if (n->options.bind_ports)
		options.bind.port = 0;
	options.choosy = false;
	return link_open(&options, &n->link);
}

static bool authenticate(void *context, enum rltp_key key, const uint8_t *frame, size_t bytes,
			 uint8_t tag[WIRE_TAG_BYTES])
{
	const struct node *n = context;
	struct mac *mac = fabric_keys_mac(&n->keys, key);

	if (mac)
		mac_compute(mac, frame, bytes, NULL, 0, tag);
	return mac != NULL;
}

static int nic_start(struct node *n)
{
	struct nic_options options = {
		.node = n->id,
		.incarnation = n->incarnation,
		.window_packets = n->options.window_packets,
		.receive_packets =
			(uint32_t)max_u64(link_receive_buffer(n->link) / BUFFER_PER_PACKET, 1),
		.authenticate = n->options.fabric_key ? authenticate : NULL,
		.authenticate_context = n,
		.protect = protect_mode,
		.protect_context = n,
		.seal = &seal_ops,
		.seal_context = n->seal,
		.machine = machine_number(),
		.path = machine_path,
		.path_context = n,
		.long_frames = !n->options.no_long_frames && link_joins(n->link),
		.tuning = n->options.tuning,
		.entropy = rng_entropy_kernel,
		.token = token_of,
		.token_context = n,
		.cfg = n->options.cfg,
		.cfg_context = n->options.cfg_context,
	};

	memcpy(options.uuid, n->uuid, sizeof(options.uuid));
	n->window = aligned_alloc(4096, sizeof(*n->window));
	if (!n->window)
		return DXP_ENOMEM;
	memset(n->window, 0, sizeof(*n->window));
	int status = nic_create(&options, &n->nic);
	uint32_t qps = n->options.qps ? n->options.qps : NIC_QPS_PER_FUNCTION;
	return status == DXP_OK ? nic_user_open(n->nic, 0, qps, n->window) : status;
}

static void text_copy(char *to, size_t space, const char *from)
{
	if (from)
		strncpy(to, from, space - 1);
}

static int member_start(struct node *n, uint64_t now_ns)
{
	const struct node_options *o = &n->options;
	struct member_options options = {
		.manager = o->manager,
		.others = o->other_managers,
		/* no limit here; node_join applies the limit of its caller */
		.join_timeout_ns = UINT64_MAX,
		.entropy = rng_entropy_kernel,
		.self =
			{
				.kind = o->xpu ? MANAGE_XPU : MANAGE_HOST,
				.id = o->wanted_id,
				.magic = n->window->qp_magic[NODE_SERVICE_QP],
				.incarnation = n->incarnation,
				.memory_bytes = o->memory_bytes,
				.capabilities = o->capabilities | MANAGE_CAPABILITY_PROBED |
						DXP_RELEASE << MANAGE_RELEASE_SHIFT,
			},
	};

	options.identity = o->identity;
	memcpy(options.key, o->fabric_key, sizeof(options.key));
	memcpy(options.self.uuid, n->uuid, sizeof(options.self.uuid));
	text_copy(options.self.name, sizeof(options.self.name), o->name);
	text_copy(options.self.engine, sizeof(options.self.engine), o->engine);
	text_copy(options.self.device, sizeof(options.self.device), o->device);
	if (node_advertised(n, &options.self.address))
		options.self.capabilities |= MANAGE_CAPABILITY_ADVERTISED;
	int status = member_create(&options, now_ns, &n->member);
	keys_erase(options.key, sizeof(options.key));
	if (status == DXP_OK && o->identity)
		status = rotation_start(&n->rotation, o->identity, o->identity_file);
	if (status == DXP_OK) {
		node_table_keep(member_table(n->member));
		paths_start(n);
	}
	return status;
}

static bool uuid_empty(const uint8_t uuid[WIRE_UUID_BYTES])
{
	static const uint8_t zero[WIRE_UUID_BYTES];

	return memcmp(uuid, zero, sizeof(zero)) == 0;
}

/* Applies DXP_CC from the environment unless the options select a congestion control. */
static int tuning_choose(struct rltp_tuning *tuning)
{
	const char *text = getenv("DXP_CC");

	if (tuning->cc != CC_SWIFT || !text || *text == '\0' || cc_parse(text, &tuning->cc))
		return DXP_OK;
	log_error("DXP_CC=%s is not a congestion control; use swift, none, dctcp or reno", text);
	return DXP_EINVAL;
}

int node_open(const struct node_options *options, struct node **out)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return DXP_ENOMEM;
	n->options = *options;
	n->id = options->static_id ? options->static_id : WIRE_NODE_NONE;
	n->incarnation = incarnation_draw();
	n->silent_ns = UINT64_MAX;
	for (uint32_t i = 0; i < NIC_USERS; i++)
		n->user_fds[i] = -1;
	text_copy(n->name, sizeof(n->name), options->name);
	memcpy(n->uuid, options->uuid, sizeof(n->uuid));
	if (uuid_empty(n->uuid))
		rng_entropy_kernel(NULL, n->uuid, sizeof(n->uuid));
	uint8_t key[FABRIC_KEY_BYTES];
	/* random key for a node without fabric key */
	rng_entropy_kernel(NULL, key, sizeof(key));
	if (options->fabric_key)
		memcpy(key, options->fabric_key, sizeof(key));
	int status = mac_create(key, &n->mac);
	if (status == DXP_OK)
		status = fabric_keys_start(&n->keys, key, options->key_file);
	keys_erase(key, sizeof(key));
	if (status == DXP_OK)
		status = tuning_choose(&n->options.tuning);
	if (status == DXP_OK)
		status = machine_crc_start(n);
	if (status == DXP_OK)
		status = protect_start(n, options->fabric_key, options->identity);
	if (status == DXP_OK)
		status = link_start(n);
	if (status == DXP_OK)
		status = nic_start(n);
	if (status == DXP_OK)
		outside_start(n);
	if (status == DXP_OK && !options->static_id)
		status = member_start(n, clock_now_ns());
	if (status == DXP_OK)
		status = observe_open(n);
	/* the node has copied these options, and the caller may free them */
	n->options.fabric_key = NULL;
	n->options.identity = NULL;
	n->options.identity_file = n->options.key_file = NULL;
	n->options.protect = n->options.peer_keys = n->options.payload_crc = NULL;
	n->options.name = n->options.engine = n->options.device = NULL;
	if (status != DXP_OK) {
		node_close(n);
		return status;
	}
	*out = n;
	return DXP_OK;
}
