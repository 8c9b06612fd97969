/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes IP packets to a pcap file (link type 101: raw IP), for tshark. */
#ifndef SUPPORT_RC_CAPTURE_H
#define SUPPORT_RC_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

/* Starts NAME.pcap in the folder $DXP_RC_CAPTURES. Without the variable, nothing is written. */
void rc_capture_open(const char *name);
void rc_capture_write(const uint8_t *ip, size_t bytes, uint64_t now_ns);
void rc_capture_close(void);

#endif
