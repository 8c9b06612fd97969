/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pcapng writer with a strict reader that shares no code, and with tshark if
 * installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "test/support/capture.h"
#include "wire/pcapng.h"

static uint8_t file[4u << 20];
static size_t file_bytes;

static struct udp_address address(const char *text)
{
	struct udp_address a;

	assert_int_equal(address_parse(text, 1, &a), DXP_OK);
	return a;
}

static void file_begin(uint32_t snap_bytes)
{
	file_bytes = pcapng_section(file, "a test");
	file_bytes += pcapng_interface(file + file_bytes, "xpu1", "its NIC", snap_bytes);
}

static struct capture parsed(void)
{
	struct capture c;

	if (!capture_parse(&c, file, file_bytes))
		fail_msg("%s", c.wrong);
	return c;
}

static void pcapng_packet__is_read_back_as_it_was(void **state)
{
	static const char *const pairs[][2] = {
		{"10.0.0.1:4795", "192.168.7.9:65535"},
		{"[2001:db8::1]:1", "[fe80::ffff:1]:4795"},
		/* two families, as from a dual-stack socket */
		{"[2001:db8::1]:1", "10.0.0.1:2"},
	};
	uint8_t data[9000];
	struct rng rng = {.state = 7};

	rng_entropy_rng(&rng, data, sizeof(data));
	file_begin(0);
	/* every short payload */
	for (uint32_t bytes = 0; bytes < 70; bytes++) {
		const struct pcapng_packet p = {
			.time_ns = 1600000000123456789ull + bytes,
			.from = address(pairs[bytes % 3][0]),
			.to = address(pairs[bytes % 3][1]),
			.data = data,
			.captured_bytes = bytes,
			.bytes = bytes,
			.outbound = bytes % 2,
			.ecn = bytes % 4,
			.comment = bytes % 5 ? "retransmission: gap" : NULL,
			.dropped = bytes % 7,
		};
		file_bytes += pcapng_packet(file + file_bytes, &p);
	}
	file_bytes += pcapng_statistics(file + file_bytes, 0, 5, 77, 7);
	struct capture c = parsed();
	assert_int_equal(c.packet_count, 70);
	assert_string_equal(c.program, "a test");
	assert_string_equal(c.interfaces[0].name, "xpu1");
	assert_int_equal(c.interfaces[0].seen, 77);
	assert_int_equal(c.interfaces[0].dropped, 7);
	for (uint32_t i = 0; i < 70; i++) {
		const struct capture_packet *p = &c.packets[i];
		struct udp_address from = address(pairs[i % 3][0]), to = address(pairs[i % 3][1]);
		assert_int_equal(p->time_ns, 1600000000123456789ull + i);
		assert_true(address_equal(&p->from, &from));
		assert_true(address_equal(&p->to, &to));
		assert_int_equal(p->bytes, i);
		assert_memory_equal(p->payload, data, i);
		assert_int_equal(p->outbound, i % 2);
		assert_int_equal(p->ecn, i % 4);
		assert_int_equal(p->dropped, i % 7);
		assert_string_equal(p->comment, i % 5 ? "retransmission: gap" : "");
	}
	capture_free(&c);
}

static void pcapng_packet__has_no_checksum_of_what_was_cut(void **state)
{
	const uint8_t data[64] = {1, 2, 3};
	const struct pcapng_packet p = {.from = address("10.0.0.1"),
					.to = address("10.0.0.2"),
					.data = data,
					.captured_bytes = 61,
					.bytes = DATAGRAM_BYTES_MAX};

	file_begin(61);
	file_bytes += pcapng_packet(file + file_bytes, &p);
	struct capture c = parsed();
	assert_int_equal(c.interfaces[0].snap_bytes, 61 + PCAPNG_HEADERS);
	assert_int_equal(c.packets[0].captured_bytes, 61);
	assert_int_equal(c.packets[0].bytes, DATAGRAM_BYTES_MAX);
	capture_free(&c);
}

/* 0xffff stands for 0, which would mean no checksum. */
static void pcapng_packet__never_writes_zero_for_a_checksum(void **state)
{
	struct pcapng_packet p = {.from = address("10.0.0.1:1"), .to = address("10.0.0.2:2")};
	uint8_t data[2];
	bool met = false;

	p.data = data;
	p.captured_bytes = p.bytes = sizeof(data);
	for (uint32_t word = 0; word < 0x10000; word++) {
		data[0] = (uint8_t)(word >> 8);
		data[1] = (uint8_t)word;
		file_begin(0);
		file_bytes += pcapng_packet(file + file_bytes, &p);
		struct capture c = parsed();
		met = met || c.packets[0].udp_checksum == 0xffff;
		capture_free(&c);
	}
	assert_true(met);
}

static void pcapng_datagram__gathers_header_and_slices(void **state)
{
	static uint8_t payload[8000];
	struct datagram d = {
		.to = address("10.0.0.2:9"),
		.header_bytes = 64,
		.slice_count = 3,
		.ecn = 2,
		.slices = {{payload, 3}, {NULL, 0}, {payload + 3, 7997}},
	};
	const struct pcapng_packet p = {.from = address("10.0.0.1:8"), .outbound = true};
	struct rng rng = {.state = 1};
	static const uint32_t snaps[] = {0, 1, 64, 66, 67, 68, 8063, 8064, 9000};

	rng_entropy_rng(&rng, payload, sizeof(payload));
	rng_entropy_rng(&rng, d.header, sizeof(d.header));
	for (size_t i = 0; i < sizeof(snaps) / sizeof(*snaps); i++) {
		uint32_t kept = snaps[i] == 0 || snaps[i] > 8064 ? 8064 : snaps[i];
		file_begin(snaps[i]);
		file_bytes += pcapng_datagram(file + file_bytes, &p, &d, snaps[i]);
		struct capture c = parsed();
		assert_int_equal(c.packets[0].bytes, 8064);
		assert_int_equal(c.packets[0].captured_bytes, kept);
		assert_memory_equal(c.packets[0].payload, d.header, kept < 64 ? kept : 64);
		if (kept > 64)
			assert_memory_equal(c.packets[0].payload + 64, payload, kept - 64);
		assert_int_equal(c.packets[0].ecn, 2);
		assert_int_equal(c.packets[0].to.port, 9);
		capture_free(&c);
	}
}

static void pcapng_texts__are_cut(void **state)
{
	char text[1000];
	const struct pcapng_packet p = {
		.from = address("10.0.0.1"), .to = address("10.0.0.2"), .comment = text};

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	file_bytes = pcapng_section(file, text);
	file_bytes += pcapng_interface(file + file_bytes, text, text, 0);
	file_bytes += pcapng_packet(file + file_bytes, &p);
	struct capture c = parsed();
	assert_int_equal(strlen(c.packets[0].comment), PCAPNG_TEXT_BYTES);
	capture_free(&c);
}

/* The largest block fits. */
static void pcapng_packet__fits_its_space(void **state)
{
	static uint8_t data[DATAGRAM_BYTES_MAX];
	char text[PCAPNG_TEXT_BYTES + 1];
	const struct pcapng_packet p = {.from = address("[::1]:1"),
					.to = address("[::1]:2"),
					.data = data,
					.captured_bytes = sizeof(data),
					.bytes = sizeof(data),
					.comment = text,
					.dropped = 1};

	memset(text, 'x', sizeof(text));
	text[PCAPNG_TEXT_BYTES] = '\0';
	assert_in_range(pcapng_packet(file, &p), sizeof(data), PCAPNG_BLOCK_MAX);
}

/* The reader detects every cut and every changed bit of a valid file. Otherwise the other tests
 * would prove little. */
static void capture_parse__notices_damage(void **state)
{
	const uint8_t data[] = "payload";
	const struct pcapng_packet p = {.from = address("10.0.0.1:1"),
					.to = address("10.0.0.2:2"),
					.data = data,
					.captured_bytes = 7,
					.bytes = 7,
					.comment = "odd"};
	struct capture c;

	file_begin(0);
	size_t front = file_bytes;
	file_bytes += pcapng_packet(file + file_bytes, &p);
	for (size_t i = front; i < file_bytes; i++) {
		size_t at = i - front;
		/* any value is valid: time, MAC addresses, comment */
		if ((at >= 12 && at < 20) || (at >= 28 && at < 40) || (at >= 84 && at < 87))
			continue;
		for (unsigned bit = 0; bit < 8; bit++) {
			file[i] ^= (uint8_t)(1u << bit);
			if (capture_parse(&c, file, file_bytes))
				fail_msg("byte %zu bit %u went unnoticed", at, bit);
			capture_free(&c);
			file[i] ^= (uint8_t)(1u << bit);
		}
	}
	for (size_t cut = 1; cut < file_bytes - front; cut++) {
		assert_false(capture_parse(&c, file, file_bytes - cut));
		capture_free(&c);
	}
}

static void pcapng_file__is_what_tshark_reads(void **state)
{
	char path[] = "pcapng-test-XXXXXX", command[512], line[256] = "";
	const uint8_t data[] = "seven b";
	const struct pcapng_packet p = {.time_ns = 1600000000123456789ull,
					.from = address("10.0.0.1:1111"),
					.to = address("10.0.0.2:2222"),
					.data = data,
					.captured_bytes = 7,
					.bytes = 7,
					.ecn = 3,
					.comment = "retransmission: gap"};

	if (system("tshark --version >/dev/null 2>&1") != 0) {
		puts("skipped: no tshark; apt install tshark");
		skip();
	}
	file_begin(0);
	file_bytes += pcapng_packet(file + file_bytes, &p);
	file_bytes += pcapng_statistics(file + file_bytes, 0, p.time_ns, 1, 0);
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, file, file_bytes) == (ssize_t)file_bytes);
	close(fd);
	snprintf(command, sizeof(command),
		 "tshark -r %s -o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields -E "
		 "separator=, -e frame.time_epoch -e ip.src -e ip.dst -e udp.srcport -e udp.length "
		 "-e ip.dsfield.ecn -e ip.checksum.status -e udp.checksum.status -e "
		 "frame.interface_name -e frame.comment 2>/dev/null",
		 path);
	FILE *tshark = popen(command, "r");
	assert_non_null(tshark);
	assert_non_null(fgets(line, sizeof(line), tshark));
	assert_int_equal(pclose(tshark), 0);
	unlink(path);
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, "1600000000.123456789,10.0.0.1,10.0.0.2,1111,15,3,1,1,xpu1,"
				  "retransmission: gap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pcapng_packet__is_read_back_as_it_was),
		cmocka_unit_test(pcapng_packet__has_no_checksum_of_what_was_cut),
		cmocka_unit_test(pcapng_packet__never_writes_zero_for_a_checksum),
		cmocka_unit_test(pcapng_datagram__gathers_header_and_slices),
		cmocka_unit_test(pcapng_texts__are_cut),
		cmocka_unit_test(pcapng_packet__fits_its_space),
		cmocka_unit_test(capture_parse__notices_damage),
		cmocka_unit_test(pcapng_file__is_what_tshark_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
