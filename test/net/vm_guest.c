/* SPDX-License-Identifier: BSD-3-Clause */
/* Only program of a virtual machine with functions of two NICs (`dxp vf export`). Maps their PCI
 * devices and moves data between the nodes by dxp/device.h: NAP, PUT, GET, a list, and a wrong key.
 * Prints a line each, then "guest: passed", and turns the machine off. */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/device.h>
#include <dxp/guest.h>
#include <dxp/status.h>

#define DEVICES    "/sys/bus/pci/devices"
#define NICS       2
#define LOOKS      2000000000ull /* longer than any operation on a loaded host */
#define BYTES      60000u        /* bytes of one transfer */
#define FROM       4096u         /* in each NIC's memory */
#define TO         131072u
#define CHAIN      262144u
#define CHAIN_LIST 300u /* entries of the list */

struct nic {
	struct dxp_window *window;
	struct dxp_guest *head;
};

static struct nic nics[NICS];

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("guest: FAILED: ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void check(const char *what, int status)
{
	if (status != DXP_OK)
		die("%s: status %d", what, status);
}

/* ---- the PCI devices ---- */

static unsigned long number_read(const char *device, const char *file)
{
	char path[300], text[32] = "";

	snprintf(path, sizeof(path), DEVICES "/%s/%s", device, file);
	int fd = open(path, O_RDONLY);
	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) < 0)
			text[0] = '\0';
		close(fd);
	}
	return strtoul(text, NULL, 16);
}

static void device_enable(const char *device)
{
	char path[300];

	snprintf(path, sizeof(path), DEVICES "/%s/enable", device);
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "1", 1) != 1)
		die("cannot enable %s", device);
	close(fd);
}

static void *device_map(const char *device)
{
	char path[300];
	struct stat st;

	device_enable(device);
	snprintf(path, sizeof(path), DEVICES "/%s/resource2", device);
	int fd = open(path, O_RDWR | O_SYNC);
	if (fd < 0 || fstat(fd, &st) != 0)
		die("cannot open %s", path);
	void *memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		die("cannot map %s", path);
	close(fd);
	return memory;
}

/* Pairs each memory with the window of the same magic. */
static void nics_find(void)
{
	struct dxp_window *windows[NICS];
	unsigned window_count = 0, memory_count = 0;
	struct dirent *entry;
	DIR *all = opendir(DEVICES);

	while (all && (entry = readdir(all))) {
		if (number_read(entry->d_name, "vendor") != DXP_GUEST_VENDOR ||
		    number_read(entry->d_name, "device") != DXP_GUEST_DEVICE)
			continue;
		dxp_u32 *memory = device_map(entry->d_name);
		if (*memory == DXP_WINDOW_MAGIC && window_count < NICS) {
			windows[window_count++] = (void *)memory;
		} else if (*memory == DXP_GUEST_MAGIC) {
			struct dxp_guest *head = (void *)memory;
			nics[head->number % NICS].head = head;
			memory_count++;
		}
	}
	for (unsigned i = 0; i < window_count; i++)
		for (unsigned k = 0; k < NICS; k++)
			if (nics[k].head && nics[k].head->qp_magic == windows[i]->qp_magic[0])
				nics[k].window = windows[i];
	if (memory_count != NICS || !nics[0].window || !nics[1].window)
		die("%u windows and %u memories, not %d of each", window_count, memory_count, NICS);
	printf("guest: functions of %s and %s\n", nics[0].head->nic, nics[1].head->nic);
}

/* ---- transfers ---- */

static dxp_u8 *bytes_at(const struct nic *n, dxp_u32 offset)
{
	return (dxp_u8 *)n->head + offset;
}

static dxp_u8 pattern(dxp_u32 i, dxp_u32 seed)
{
	return (dxp_u8)(i * 2654435761u >> 13 ^ seed);
}

static void fill(const struct nic *n, dxp_u32 seed)
{
	for (dxp_u32 i = 0; i < BYTES; i++)
		bytes_at(n, FROM)[i] = pattern(i, seed);
	memset(bytes_at(n, TO), 0, BYTES);
}

static void compare(const char *what, const struct nic *n, dxp_u32 seed)
{
	for (dxp_u32 i = 0; i < BYTES; i++)
		if (bytes_at(n, TO)[i] != pattern(i, seed))
			die("%s: byte %u differs", what, i);
	printf("guest: %s\n", what);
}

/* The address by which the other node reaches this queue pair. */
static struct dxp_target target(const struct nic *n, dxp_u8 qp)
{
	struct dxp_target t = dxp_self(n->window, qp);

	t.node = (dxp_u16)n->window->node;
	return t;
}

static int completion(const struct nic *n)
{
	struct dxp_nic_event event;
	int status = dxp_sent_wait(n->window, &event, LOOKS);

	return status == DXP_OK ? event.status : status;
}

static void nap(const struct nic *from, const struct nic *to)
{
	static const char text[] = "from one virtual function to another node";
	const struct dxp_target peer = target(to, 1);

	check("NAP", dxp_post_nap(from->window, 0, &peer, text, sizeof(text), 77, 1));
	check("completion of a NAP", completion(from));
	check("arrival of a NAP", dxp_received_wait(to->window, LOOKS));
	const struct dxp_nic_event *event = dxp_received_peek(to->window);
	if (event->imm != 77 || event->bytes != sizeof(text) ||
	    memcmp(dxp_received_data(to->window, event), text, sizeof(text)) != 0)
		die("another NAP arrived");
	dxp_received_release(to->window);
	printf("guest: NAP\n");
}

static void put_and_get(const struct nic *near, const struct nic *far)
{
	const struct dxp_target peer = target(far, 2);
	const struct dxp_entry own = {FROM, BYTES, near->head->key};
	const struct dxp_entry theirs = {TO, BYTES, far->head->key};
	const struct dxp_entry from = {FROM, BYTES, far->head->key};
	const struct dxp_entry to = {TO, BYTES, near->head->key};

	fill(near, 1);
	fill(far, 2);
	check("PUT", dxp_post_put(near->window, 3, &peer, &own, &theirs, 0, 0, 2));
	check("completion of a PUT", completion(near));
	compare("PUT", far, 1);
	check("GET", dxp_post_get(near->window, 3, &peer, &from, &to, 3));
	check("completion of a GET", completion(near));
	compare("GET", near, 2);
}

/* Entries in reverse order make the list's effect visible. */
static void list(const struct nic *near, const struct nic *far)
{
	const struct dxp_target peer = target(far, 0);
	const struct dxp_descriptor head = dxp_head(DXP_OP_PUT, 0, &peer, 0);
	struct dxp_chain *chain = (void *)bytes_at(near, CHAIN);
	struct dxp_entry *entries = (void *)(chain + 1);
	const struct dxp_entry at = {CHAIN, (dxp_u32)dxp_chain_bytes(CHAIN_LIST, 1),
				     near->head->key};
	const dxp_u32 each = BYTES / CHAIN_LIST;

	fill(near, 3);
	fill(far, 4);
	dxp_chain_store(chain, &head, CHAIN_LIST, 1);
	for (dxp_u32 i = 0; i < CHAIN_LIST; i++)
		entries[i] = (struct dxp_entry){FROM + (CHAIN_LIST - 1 - i) * each, each,
						near->head->key};
	entries[CHAIN_LIST] = (struct dxp_entry){TO, BYTES, far->head->key};
	check("list", dxp_post_reference(near->window, 0, &at, 4));
	check("completion of a list", completion(near));
	for (dxp_u32 i = 0; i < BYTES; i++) {
		dxp_u32 source = (CHAIN_LIST - 1 - i / each) * each + i % each;
		if (bytes_at(far, TO)[i] != pattern(source, 3))
			die("list: byte %u differs", i);
	}
	printf("guest: list of %u entries by reference\n", CHAIN_LIST);
}

static void wrong_key(const struct nic *near, const struct nic *far)
{
	const struct dxp_target peer = target(far, 2);
	const struct dxp_entry own = {FROM, 64, near->head->key};
	const struct dxp_entry theirs = {TO, 64, far->head->key ^ 1};

	check("PUT", dxp_post_put(near->window, 0, &peer, &own, &theirs, 0, 0, 5));
	int status = completion(near);
	if (status != DXP_EACCESS)
		die("a wrong key completes with status %d", status);
	printf("guest: wrong key rejected\n");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mkdir("/sys", 0755);
	if (mount("sysfs", "/sys", "sysfs", 0, NULL) != 0)
		die("cannot mount /sys");
	nics_find();
	nap(&nics[0], &nics[1]);
	nap(&nics[1], &nics[0]);
	put_and_get(&nics[0], &nics[1]);
	put_and_get(&nics[1], &nics[0]);
	list(&nics[0], &nics[1]);
	wrong_key(&nics[1], &nics[0]);
	printf("guest: passed\n");
	fflush(stdout);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
