/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed node ids (docs/reference/wire.md "Node ids"). */
#ifndef WIRE_IDS_H
#define WIRE_IDS_H

#define WIRE_NODE_NONE    0xffffu /* no id yet */
#define WIRE_NODE_MANAGER 0xfffeu
#define WIRE_NODE_FIRST   1u
#define WIRE_NODE_LAST    0xfffdu
/* first of a node's own numbers for peers outside its node table; never on the wire */
#define WIRE_NODE_OUTSIDE 0xff00u
#define WIRE_UUID_BYTES   16

#endif
