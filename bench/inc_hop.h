/* SPDX-License-Identifier: BSD-3-Clause */
/* One hop, and what answers at its far end: a switch, or a bare echo. */
#ifndef BENCH_INC_HOP_H
#define BENCH_INC_HOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_options;

/* The rows of one hop: round trips from host to switch and back. Returns an exit status. */
int inc_hop_run(const struct bench_options *options);

enum hop_kind { HOP_XDP, HOP_XDP_NATIVE, HOP_USER, HOP_ECHO, HOP_ECHO_NATIVE, HOP_KINDS };

extern const char *const hop_names[HOP_KINDS];

struct hop_far {
	enum hop_kind kind;
	const char *netns; /* that it runs in, at the interface `port` */
	const char *port;
	uint32_t ip;
	bool no_icrc_check;
};

/* Runs until the process is ended; a byte or more to `control` says that packets are taken, its end
 * without one that this machine cannot (told on standard error). */
void hop_far_run(int control, const struct hop_far *far);

/* The bare echo on an interface; it stays as long as the process. DXP_EUNSUPPORTED: not in this
 * build, or not allowed. */
int hop_echo_attach(const char *port, bool native);

/* The same for a native program that passes everything: what the near end of a veth must have for
 * native answers to arrive. hop_pass_detach takes it off. */
int hop_pass_attach(const char *port);
void hop_pass_detach(void);

/* Nanoseconds that the program spends on a contribution that it answers, without the way there:
 * the kernel's own measurement. 0: it cannot be measured here. */
double hop_program_ns(size_t payload_bytes, bool check_icrc);

#endif
