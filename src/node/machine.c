/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which peers are on this machine, and so whether packets to them need a checksum over
 * their payload. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/siphash.h"
#include "base/util.h"
#include "node/internal.h"

#define BOOT_ID_FILE  "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_BYTES 36 /* a UUID as text */

/* The kernel drops packets from other machines that claim such a source. */
bool machine_at(const struct node *n, const struct udp_address *peer)
{
	struct udp_address own;

	link_address(n->link, &own);
	return address_loopback(peer) || memcmp(own.ip, peer->ip, sizeof(own.ip)) == 0;
}

/* A hash, so that packets do not carry the id of the boot itself. */
uint64_t machine_number(void)
{
	static const uint64_t key[2] = {0x4469726563742078, 0x50552c2061626f6f};
	uint64_t words[(BOOT_ID_BYTES + 7) / 8] = {0};
	int fd = descriptor_raise(open(BOOT_ID_FILE, O_RDONLY | O_CLOEXEC));

	if (fd < 0)
		return 0;
	ssize_t got = read(fd, words, BOOT_ID_BYTES);
	close(fd);
	return got == BOOT_ID_BYTES ? siphash_words(key, words, ARRAY_COUNT(words)) : 0;
}

int machine_crc_start(struct node *n)
{
	static const char *const modes[] = {
		[PAYLOAD_CRC_AUTO] = "auto",
		[PAYLOAD_CRC_ALWAYS] = "always",
		[PAYLOAD_CRC_NEVER] = "never",
	};
	const char *text =
		n->options.payload_crc ? n->options.payload_crc : getenv("DXP_PAYLOAD_CRC");

	if (!text || !*text)
		return DXP_OK;
	for (uint8_t i = 0; i < ARRAY_COUNT(modes); i++) {
		if (strcmp(text, modes[i]) != 0)
			continue;
		n->payload_crc = i;
		return DXP_OK;
	}
	log_error("DXP_PAYLOAD_CRC=%s is unknown; use auto, always or never", text);
	return DXP_EINVAL;
}

/* Returns true if packets to the peer cross no wire: its address is that of
 * this node or a loopback address, or they enter a veth interface to another network namespace. A
 * loopback address alone proves nothing, because a proxy there may forward to another machine. */
static bool path_wireless(const struct node *n, const struct udp_address *peer, bool same_machine)
{
	return same_machine && (machine_at(n, peer) || link_path_virtual(peer));
}

/* A link with injected faults counts as a wire, because faults change and lose packets. */
uint8_t machine_path(void *context, const struct udp_address *peer, bool same_machine)
{
	const struct node *n = context;
	bool wireless = !link_faulty(n->link) && path_wireless(n, peer, same_machine);
	bool intact =
		n->payload_crc == PAYLOAD_CRC_AUTO ? wireless : n->payload_crc == PAYLOAD_CRC_NEVER;
	bool long_frames = wireless && !n->options.no_long_frames && link_splits(n->link);

	return (uint8_t)((intact ? RLTP_PATH_INTACT : 0) | (long_frames ? RLTP_PATH_LONG : 0));
}
