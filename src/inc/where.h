/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds this host's switch: by the program's options, the environment, or a file. */
#ifndef INC_WHERE_H
#define INC_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#define INC_WHERE_FILE  "/etc/dxp/inc.conf"
#define INC_WHERE_BYTES 4096 /* bytes of the text that lists switches, with the final zero */

/* Finds the switch. `switches`: see struct dxp_inc_options; NULL or empty: DXP_INC_SWITCH, then
 * INC_WHERE_FILE. Addresses are in host order. *own_ip is the address of this host on the route to
 * the switch. DXP_ENOENT: no switch is configured for this host, or there is no route. DXP_EINVAL:
 * the text does not parse. `loud`: logs errors. */
int inc_switch_find(const char *switches, bool loud, uint32_t *switch_ip, uint32_t *own_ip);

#endif
