/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --payload-crc of programs that open nodes. */
#ifndef CMD_OPTIONS_PAYLOAD_CRC_H
#define CMD_OPTIONS_PAYLOAD_CRC_H

/* Parses the mode and sets the environment variable DXP_PAYLOAD_CRC, which nodes read. It has the
 * type of `parse` in struct option_row; `to` is unused. */
const char *option_payload_crc_set(const char *text, void *to);

#endif
