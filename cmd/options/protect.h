/* SPDX-License-Identifier: BSD-3-Clause */
/* The options --protect and --peer-keys of programs that open nodes. */
#ifndef CMD_OPTIONS_PROTECT_H
#define CMD_OPTIONS_PROTECT_H

/* Parses the protection of packets and sets the environment variable DXP_PROTECT, which nodes read.
 * It has the type of `parse` in struct option_row; `to` is unused. */
const char *option_protect_set(const char *text, void *to);
/* The same for nodes that prove no key pair, and DXP_PEER_KEYS. */
const char *option_peer_keys_set(const char *text, void *to);

#endif
