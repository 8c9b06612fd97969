/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which datagrams form a batch, and its control messages to the kernel. */
#include <netinet/udp.h>

#include "test/unit/link_pair.h"

#define LIST_MAX 600

static struct link_batch batch;
static struct datagram datagrams[LIST_MAX];
static const struct datagram *list[LIST_MAX];
static const uint8_t memory[DATAGRAM_BYTES_MAX + 1];

/* Datagram i has sizes[i] bytes, at most 16 of them header. */
static void list_make(const size_t *sizes, size_t count)
{
	struct udp_address to = address_of("127.0.0.1:9");

	for (size_t i = 0; i < count; i++) {
		size_t header_bytes = min_u64(sizes[i], 16);
		datagrams[i] =
			datagram_of(&to, (uint8_t)i, header_bytes, memory, sizes[i] - header_bytes);
		list[i] = &datagrams[i];
	}
}

static void list_make_equal(size_t bytes, size_t count)
{
	size_t sizes[LIST_MAX];

	for (size_t i = 0; i < count; i++)
		sizes[i] = bytes;
	list_make(sizes, count);
}

static struct batch_limits limits_of(unsigned segments)
{
	return (struct batch_limits){.family = AF_INET, .segments = segments};
}

static void assert_lengths(const uint16_t *expected, size_t count)
{
	assert_int_equal(batch.message_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(batch.lengths[i], expected[i]);
}

/* -1: there is none. */
static int control_of(size_t message, int level, int type)
{
	struct msghdr *m = &batch.messages[message].msg_hdr;

	for (struct cmsghdr *c = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL; c;
	     c = CMSG_NXTHDR(m, c)) {
		int value = 0;
		if (c->cmsg_level != level || c->cmsg_type != type)
			continue;
		memcpy(&value, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
		return value;
	}
	return -1;
}

static void batch_fill__groups_by_size(void **state)
{
	/* A shorter datagram completes a batch, a longer one starts the next, and an empty one is
	 * alone. */
	static const size_t sizes[] = {100, 100, 100, 60, 60, 200, 0, 0, 300};
	static const uint16_t lengths[] = {4, 1, 1, 1, 1, 1};
	struct batch_limits limits = limits_of(64);

	list_make(sizes, ARRAY_COUNT(sizes));
	assert_int_equal(batch_fill(&batch, &limits, list, ARRAY_COUNT(sizes)), 9);
	assert_lengths(lengths, ARRAY_COUNT(lengths));
	assert_int_equal(control_of(0, IPPROTO_UDP, UDP_SEGMENT), 100);
	assert_int_equal(batch.bytes[0], 360);
	for (size_t i = 1; i < batch.message_count; i++)
		assert_int_equal(batch.messages[i].msg_hdr.msg_controllen, 0);
}

static void batch_fill__keeps_within_the_kernels_bounds(void **state)
{
	struct batch_limits limits = limits_of(64);

	/* limit: the kernel splits into at most 64 */
	list_make_equal(64, 130);
	assert_int_equal(batch_fill(&batch, &limits, list, 130), 130);
	assert_lengths((const uint16_t[]){64, 64, 2}, 3);
	/* limit: one IP packet; 44 * 1472 = 64768 <= 65507 < 45 * 1472 */
	list_make_equal(1472, 88);
	batch_fill(&batch, &limits, list, 88);
	assert_lengths((const uint16_t[]){44, 44}, 2);
	/* The kernel must reject more than 65507 bytes. */
	list_make((const size_t[]){65507, 65507, 65508}, 3);
	batch_fill(&batch, &limits, list, 3);
	assert_lengths((const uint16_t[]){1, 1, 1}, 3);
	/* without GSO */
	limits.segments = 1;
	list_make_equal(64, 10);
	batch_fill(&batch, &limits, list, 10);
	assert_int_equal(batch.message_count, 10);
}

static void batch_fill__stops_when_the_batch_is_full(void **state)
{
	struct batch_limits limits = limits_of(1);

	/* limit: messages */
	list_make_equal(64, 100);
	assert_int_equal(batch_fill(&batch, &limits, list, 100), LINK_MESSAGES);
	/* limit: two batches of 44 * 1472 bytes fill the gather buffer */
	limits.segments = 64;
	list_make_equal(1472, 200);
	assert_int_equal(batch_fill(&batch, &limits, list, 200), 88);
	/* limit: a batch of 128 datagrams of seven pieces needs nearly all iovecs */
	limits.segments = 200;
	list_make_equal(64, 200);
	for (size_t i = 0; i < 200; i++)
		for (size_t s = 0; s < DATAGRAM_SLICES_MAX; s++) {
			datagrams[i].slices[s] = (struct datagram_slice){memory, 8};
			datagrams[i].slice_count = DATAGRAM_SLICES_MAX;
		}
	assert_int_equal(batch_fill(&batch, &limits, list, 200), 200);
	assert_lengths((const uint16_t[]){LINK_IOVECS / 7, 200 - LINK_IOVECS / 7}, 2);
}

static void batch_fill__gathers_short_pieces(void **state)
{
	static uint8_t source[3 * 5000];
	struct batch_limits limits = limits_of(64);
	const struct iovec *v = batch.iovecs;

	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)(i % 253);
	list_make_equal(1016, 3);
	for (size_t i = 0; i < 3; i++)
		datagrams[i].slices[0].base = source + i * 1000;
	batch_fill(&batch, &limits, list, 3);
	assert_lengths((const uint16_t[]){3}, 1);
	assert_int_equal(batch.messages[0].msg_hdr.msg_iovlen, 1);
	assert_int_equal(v[0].iov_len, 3 * 1016);
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *at = (const uint8_t *)v[0].iov_base + i * 1016;
		assert_memory_equal(at, datagrams[i].header, 16);
		assert_memory_equal(at + 16, source + i * 1000, 1000);
	}
	/* long pieces are not copied */
	list_make_equal(2 * LINK_GATHER_PIECE_BYTES, 2);
	batch_fill(&batch, &limits, list, 2);
	assert_int_equal(batch.iovec_count, 4);
	assert_ptr_equal(v[1].iov_base, memory);
	/* The pieces of a single datagram are gathered into one iovec, without empty ones. One
	 * piece is not copied. */
	list_make_equal(1016, 2);
	datagrams[0].slices[1] = (struct datagram_slice){NULL, 0};
	datagrams[0].slice_count = 2;
	datagrams[1].ecn = 1;
	datagrams[1].slice_count = 0;
	batch_fill(&batch, &limits, list, 2);
	assert_lengths((const uint16_t[]){1, 1}, 2);
	assert_int_equal(batch.iovec_count, 2);
	assert_int_equal(v[0].iov_len, 1016);
	assert_memory_equal(v[0].iov_base, datagrams[0].header, 16);
	assert_ptr_equal(v[1].iov_base, datagrams[1].header);
}

static void batch_fill__never_mixes_peers_or_ecn(void **state)
{
	struct batch_limits limits = limits_of(64);

	list_make_equal(100, 6);
	datagrams[2].to.port++;
	datagrams[4].ecn = datagrams[5].ecn = 2;
	batch_fill(&batch, &limits, list, 6);
	assert_lengths((const uint16_t[]){2, 1, 1, 2}, 4);
	assert_int_equal(control_of(0, IPPROTO_IP, IP_TOS), -1);
	assert_int_equal(control_of(3, IPPROTO_IP, IP_TOS), 2);
	assert_int_equal(control_of(3, IPPROTO_UDP, UDP_SEGMENT), 100);
}

static bool is_odd(const struct datagram *d)
{
	return d->header[0] % 2 == 1;
}

static void batch_fill__keeps_out_what_goes_alone(void **state)
{
	struct batch_limits limits = limits_of(64);

	limits.alone = is_odd;
	list_make_equal(100, 8);
	for (size_t i = 0; i < 8; i++)
		datagrams[i].header[0] = i == 0 || i == 3 || i == 4;
	batch_fill(&batch, &limits, list, 8);
	assert_lengths((const uint16_t[]){1, 2, 1, 1, 3}, 5);
}

static void batch_fill__sends_rejected_sizes_alone(void **state)
{
	struct batch_limits limits = limits_of(64);

	list_make((const size_t[]){2000, 2000, 1400, 1400}, 4);
	limits.rejected_to = datagrams[0].to;
	limits.rejected_bytes = 1500;
	batch_fill(&batch, &limits, list, 4);
	assert_lengths((const uint16_t[]){1, 1, 2}, 3);
	/* A rejected size concerns only its peer. */
	limits.rejected_to.port++;
	batch_fill(&batch, &limits, list, 4);
	assert_lengths((const uint16_t[]){3, 1}, 2);
}

static void batch_fill__names_peers_by_family(void **state)
{
	struct batch_limits limits = limits_of(64);

	list_make_equal(100, 2);
	datagrams[1].to = address_of("[2001:db8::1]:7");
	datagrams[1].ecn = 1;
	batch_fill(&batch, &limits, list, 2);
	assert_int_equal(batch.names[0].v4.sin_family, AF_INET);
	/* IPv6 from an IPv4 socket */
	assert_null(batch.messages[1].msg_hdr.msg_name);
	limits.family = AF_INET6;
	batch_fill(&batch, &limits, list, 2);
	assert_int_equal(batch.names[0].v6.sin6_family, AF_INET6);
	assert_int_equal(batch.messages[1].msg_hdr.msg_namelen, sizeof(struct sockaddr_in6));
	assert_int_equal(control_of(1, IPPROTO_IPV6, IPV6_TCLASS), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batch_fill__groups_by_size),
		cmocka_unit_test(batch_fill__keeps_within_the_kernels_bounds),
		cmocka_unit_test(batch_fill__stops_when_the_batch_is_full),
		cmocka_unit_test(batch_fill__gathers_short_pieces),
		cmocka_unit_test(batch_fill__never_mixes_peers_or_ecn),
		cmocka_unit_test(batch_fill__keeps_out_what_goes_alone),
		cmocka_unit_test(batch_fill__sends_rejected_sizes_alone),
		cmocka_unit_test(batch_fill__names_peers_by_family),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
