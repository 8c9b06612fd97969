/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that are linked with --wrap=endpoint_group_create replace the function that creates a group
 * at switches: they define the __wrap_ function, which may call the real one. */
#ifndef TEST_SUPPORT_GROUP_CREATE_H
#define TEST_SUPPORT_GROUP_CREATE_H

#include "inc/endpoint.h"

int __real_endpoint_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
				 const struct dxp_inc_group_options *options,
				 const struct endpoint_user *user, struct dxp_inc_group **out,
				 char why[DXP_INC_WHY_BYTES]);
int __wrap_endpoint_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
				 const struct dxp_inc_group_options *options,
				 const struct endpoint_user *user, struct dxp_inc_group **out,
				 char why[DXP_INC_WHY_BYTES]);

#endif
