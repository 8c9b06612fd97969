/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the one-hop measurement and its responder at the far end: a switch or a bare echo. */
#ifndef BENCH_INC_HOP_H
#define BENCH_INC_HOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_options;

int inc_hop_run(const struct bench_options *options);

enum hop_kind { HOP_XDP, HOP_XDP_NATIVE, HOP_USER, HOP_ECHO, HOP_ECHO_NATIVE, HOP_KINDS };

extern const char *const hop_names[HOP_KINDS];

struct hop_far {
	enum hop_kind kind;
	const char *netns; /* where the responder runs, at interface `port` */
	const char *port;
	uint32_t ip;
	bool no_icrc_check;
};

/* Runs until killed. Writes to `control` when ready; closes it without a byte, after a message, if
 * this machine lacks support. */
void inc_hop_far_run(int control, const struct hop_far *far);

/* Attaches the echo to an interface until the process exits. Returns DXP_EUNSUPPORTED without XDP
 * or permission. */
int inc_hop_echo_attach(const char *port, bool native);

/* Attaches a native program that passes every packet: a veth's near end needs one to receive native
 * answers. Fails as inc_hop_echo_attach does. */
int inc_hop_pass_attach(const char *port);
void inc_hop_pass_detach(void);

/* Returns the ns of the XDP program alone for a contribution that it answers; 0: not measurable
 * here. */
double inc_hop_program_ns(size_t payload_bytes, bool check_icrc);

#endif
