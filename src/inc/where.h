/* SPDX-License-Identifier: BSD-3-Clause */
/* Which switch a host belongs to: as the program, the environment or a file says. */
#ifndef INC_WHERE_H
#define INC_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#define INC_WHERE_FILE  "/etc/dxp/inc.conf"
#define INC_WHERE_BYTES 4096 /* of the text that names switches, and of the file */

/* `switches` as in struct dxp_inc_options; NULL or empty: DXP_INC_SWITCH, then INC_WHERE_FILE. Host
 * order; *own_ip is the address of this host that leads to the switch. DXP_ENOENT: none is named
 * for this host, or there is no way to it. DXP_EINVAL: the text does not parse. Both logged when
 * `loud`. */
int inc_switch_find(const char *switches, bool loud, uint32_t *switch_ip, uint32_t *own_ip);

#endif
