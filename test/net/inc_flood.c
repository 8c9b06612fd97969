/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a switch packets that it must reject.
 *
 *   inc-flood KIND SWITCH SECONDS [GROUP [EPOCH [RATE]]]
 *
 * KIND: a name from `kinds`. GROUP: hexadecimal; 0: any. RATE: packets/s, by default full speed.
 * Prints the number of packets sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "link/udp.h"
#include "wire/inc.h"

#define BATCH 32
#define PORT  (ROCE_SOURCE_PORT + 0x3000)

struct flood {
	struct link *link;
	uint32_t own_ip, to_ip, group;
	uint16_t epoch;
	uint64_t random;
	uint8_t payloads[BATCH][1408];
	uint8_t trailers[BATCH][INC_TRAILER_BYTES];
	struct datagram datagrams[BATCH];
};

static uint32_t next(struct flood *f)
{
	f->random = f->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(f->random >> 33);
}

static struct roce_path path_of(const struct flood *f)
{
	return (struct roce_path){f->own_ip, f->to_ip, PORT, ROCE_PORT};
}

/* Random bytes of random length. */
static void garbage_make(struct flood *f, unsigned i)
{
	size_t bytes = 1 + next(f) % 1400;

	for (size_t k = 0; k < bytes; k++)
		f->payloads[i][k] = (uint8_t)next(f);
	f->datagrams[i] = (struct datagram){.to = address_v4(f->to_ip, ROCE_PORT),
					    .slice_count = 1,
					    .slices = {{f->payloads[i], bytes}}};
}

static struct inc_header data_header(struct flood *f)
{
	return (struct inc_header){.kind = INC_DATA,
				   .comm_id = f->group ? f->group : next(f),
				   .src_rank = next(f) % 4,
				   .epoch = f->group ? f->epoch : (uint16_t)next(f),
				   .op = DXP_INC_SUM,
				   .type = DXP_INC_DOUBLE,
				   .collective = INC_ALLREDUCE,
				   .flags = INC_FLAG_SHORT | INC_FLAG_LAST,
				   .req_id = next(f) % 4096,
				   .call_elements = 4,
				   .elements = 4};
}

/* A contribution with a right ICRC and a wrong key. */
static void data_make(struct flood *f, unsigned i)
{
	const struct roce_path path = path_of(f);
	const struct inc_header h = data_header(f);

	memset(f->payloads[i], 0x3f, 32);
	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, next(f), INC_QP, INC_QP, &path, f->payloads[i], 32,
			  &f->datagrams[i], f->trailers[i]);
}

static void icrc_make(struct flood *f, unsigned i)
{
	data_make(f, i);
	f->trailers[i][0] ^= 1;
}

/* RoCEv2 of other software, without this protocol's tag. */
static void foreign_make(struct flood *f, unsigned i)
{
	data_make(f, i);
	f->datagrams[i].header[ROCE_BTH_BYTES + ROCE_DETH_BYTES] ^= 0xff;
}

static void control_make(struct flood *f, unsigned i, uint8_t kind, uint32_t address)
{
	const struct roce_path path = path_of(f);
	const struct inc_header h = {
		.kind = kind, .comm_id = INC_COMM_CONTROL, .src_rank = 0, .epoch = f->epoch};
	const struct inc_control c = {.sup_op = UINT32_MAX,
				      .sup_type = UINT32_MAX,
				      .sup_comm_type = 0x1e,
				      .segment_bytes = 1408,
				      .window = 64,
				      .planes = INC_PLANE_USER,
				      .members = 1,
				      .hop = 0,
				      .true_comm_id = f->group ? f->group : next(f),
				      .qkey = next(f),
				      .lease_ms = 30000,
				      .member_ip = address,
				      .first_ip = address,
				      .member_port = PORT,
				      .first_port = PORT,
				      .path_count = kind == INC_QUERY ? 0 : 1,
				      .path = {{f->to_ip, 1, 0}}};
	size_t bytes = inc_control_encode(&c, f->payloads[i]);

	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, INC_CONTROL_QKEY, INC_QP, INC_QP, &path,
			  f->payloads[i], bytes, &f->datagrams[i], f->trailers[i]);
}

static void kill_make(struct flood *f, unsigned i)
{
	control_make(f, i, INC_KILL, f->own_ip);
}

static void query_make(struct flood *f, unsigned i)
{
	control_make(f, i, INC_QUERY, f->own_ip);
}

/* A control packet with another host's address. */
static void forged_make(struct flood *f, unsigned i)
{
	control_make(f, i, INC_QUERY, f->own_ip ^ 1);
}

/* Requests unused groups until the switch has no space. */
static void notify_make(struct flood *f, unsigned i)
{
	control_make(f, i, INC_NOTIFY, f->own_ip);
}

static void inquire_make(struct flood *f, unsigned i)
{
	const struct roce_path path = path_of(f);
	const struct inc_header h = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL};
	const struct inc_inquiry q = {.section = INC_SECTION_GROUPS};
	size_t bytes = inc_inquiry_encode(&q, f->payloads[i]);

	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, INC_CONTROL_QKEY, INC_QP, INC_QP, &path,
			  f->payloads[i], bytes, &f->datagrams[i], f->trailers[i]);
}

static const struct {
	const char *name;
	void (*make)(struct flood *f, unsigned i);
} kinds[] = {
	{"garbage", garbage_make}, {"data", data_make},     {"icrc", icrc_make},
	{"foreign", foreign_make}, {"kill", kill_make},     {"query", query_make},
	{"forged", forged_make},   {"notify", notify_make}, {"inquire", inquire_make},
};

int main(int argc, char **argv)
{
	static struct flood f = {.random = 1};
	struct udp_address to, own;
	uint64_t sent = 0;
	size_t kind = 0;

	if (argc < 4 || address_parse(argv[2], 0, &to) != DXP_OK)
		return 2;
	while (kind < ARRAY_COUNT(kinds) && strcmp(kinds[kind].name, argv[1]) != 0)
		kind++;
	if (kind == ARRAY_COUNT(kinds) || link_address_towards(&to, &own) != DXP_OK)
		return 2;
	own.port = PORT;
	struct link_options options = {
		.bind = own, .whole = true, .unconnected = true, .no_gro = true};
	if (link_open(&options, &f.link) != DXP_OK)
		return 1;
	f.to_ip = (uint32_t)to.ip[12] << 24 | (uint32_t)to.ip[13] << 16 | (uint32_t)to.ip[14] << 8 |
		  to.ip[15];
	f.own_ip = (uint32_t)own.ip[12] << 24 | (uint32_t)own.ip[13] << 16 |
		   (uint32_t)own.ip[14] << 8 | own.ip[15];
	f.group = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 16) : 0;
	f.epoch = argc > 5 ? (uint16_t)atoi(argv[5]) : 0;
	uint64_t end_ns = clock_now_ns() + strtoull(argv[3], NULL, 10) * S_NS;
	uint64_t rate = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
	while (clock_now_ns() < end_ns) {
		if (rate > 0)
			usleep((useconds_t)(BATCH * 1000000ull / rate));
		for (unsigned i = 0; i < BATCH; i++)
			kinds[kind].make(&f, i);
		sent += link_send(f.link, f.datagrams, BATCH);
	}
	link_close(f.link);
	printf("%llu\n", (unsigned long long)sent);
	return 0;
}
