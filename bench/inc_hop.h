/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the measurement of one hop, and the responder at the far end of the hop: a switch or a
 * bare echo. */
#ifndef BENCH_INC_HOP_H
#define BENCH_INC_HOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_options;

/* Prints the rows of one hop: round trips from host to switch and back. Returns an exit status. */
int inc_hop_run(const struct bench_options *options);

enum hop_kind { HOP_XDP, HOP_XDP_NATIVE, HOP_USER, HOP_ECHO, HOP_ECHO_NATIVE, HOP_KINDS };

extern const char *const hop_names[HOP_KINDS];

struct hop_far {
	enum hop_kind kind;
	const char *netns; /* namespace in which the responder runs, at the interface `port` */
	const char *port;
	uint32_t ip;
	bool no_icrc_check;
};

/* Runs until the process is killed. Writes a byte or more to `control` when ready. Closes it
 * without a byte, after a message on standard error, if this machine lacks support. */
void inc_hop_far_run(int control, const struct hop_far *far);

/* Attaches the bare echo to an interface until the process exits. Returns DXP_EUNSUPPORTED if this
 * build has no XDP, or if this user has no permission. */
int inc_hop_echo_attach(const char *port, bool native);

/* Attaches a native program that passes every packet, until inc_hop_pass_detach. The near end of a
 * veth needs a native program to receive native answers. Fails as inc_hop_echo_attach does. */
int inc_hop_pass_attach(const char *port);
void inc_hop_pass_detach(void);

/* Returns the ns that the XDP program spends on a contribution that it answers. The kernel measures
 * the program alone, without the path to it. Returns 0 if this is not measurable here. */
double inc_hop_program_ns(size_t payload_bytes, bool check_icrc);

#endif
