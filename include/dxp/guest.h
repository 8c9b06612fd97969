/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC function inside a virtual machine. `dxp vf export` presents it as two PCI devices (QEMU's
 * ivshmem, 1af4:1110). BAR 2 of each device is memory:
 *
 *   window   struct dxp_window, for dxp/device.h
 *   memory   struct dxp_guest, then memory of the guest; region `key` is all of it, so offsets in
 *            struct dxp_entry count from the beginning of this struct
 *
 * The two devices of one function have the same qp_magic[0]. The NIC does not sleep while the
 * machine runs, so the guest needs no system call to send. Source: C-36. */
#ifndef DXP_GUEST_H
#define DXP_GUEST_H

#ifndef DXP_WINDOW_H
#include <dxp/window.h>
#endif

#define DXP_GUEST_VENDOR  0x1af4
#define DXP_GUEST_DEVICE  0x1110
#define DXP_GUEST_MAGIC   0x47505844u /* "DXPG" */
#define DXP_GUEST_VERSION 1

/* Description of the memory, written before the machine starts. */
struct dxp_guest {
	dxp_u32 magic, version;
	dxp_u64 bytes;    /* bytes of the region, with this struct */
	dxp_u32 key;      /* key of the region; peers may read, write and use atomics with it */
	dxp_u32 qp_magic; /* magic of queue pair 0, as in the window */
	dxp_u32 number;   /* number of the NIC in the command line, from 0 */
	char nic[32];     /* name of the NIC, ended by a zero byte */
	dxp_u8 pad[4096 - 60];
};

#endif
