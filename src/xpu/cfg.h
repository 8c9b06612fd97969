/* SPDX-License-Identifier: BSD-3-Clause */
/* The CFG registers of an xPU: 4 bytes each, by index, without gaps (X-07, X-09;
 * docs/reference/registers.md has the same table). Decides what may be written, and what a write
 * does. No system calls. */
#ifndef XPU_CFG_H
#define XPU_CFG_H

#include <stdbool.h>
#include <stdint.h>

#define CFG_MAGIC_VALUE   0x58505844u
#define CFG_VERSION_VALUE 1

/* X(index, name, access, text). Indices are an interface: never renumber registers, append them. */
#define CFG_REGISTERS(X)                                                                           \
	X(0, MAGIC, RO, "0x58505844, \"DXPX\"")                                                    \
	X(1, VERSION, RO, "version of this register map: 1")                                       \
	X(2, NODE, RO, "id of this node in the fabric; 65535 before it has one")                   \
	X(3, SLOT, RO, "slot of this xPU in its daemon")                                           \
	X(4, UUID_0, RO, "identity, bytes 0 to 3, first byte highest")                             \
	X(5, UUID_1, RO, "identity, bytes 4 to 7")                                                 \
	X(6, UUID_2, RO, "identity, bytes 8 to 11")                                                \
	X(7, UUID_3, RO, "identity, bytes 12 to 15")                                               \
	X(8, STATE, RO, "0 joining, 1 ready, 2 commands are running or waiting")                   \
	X(9, ENGINE, RO, "0 none, 1 OpenCL, 2 board, 3 CUDA, 4 RISC-V (rv32)")                     \
	X(10, COMPUTE_UNITS, RO, "compute units of the engine's device")                           \
	X(11, HOSTS, RO, "hosts that have this xPU open")                                          \
	X(12, MEMORY_LO, RO, "bytes of device memory")                                             \
	X(13, MEMORY_HI, RO, "")                                                                   \
	X(14, FREE_LO, RO, "bytes not allocated")                                                  \
	X(15, FREE_HI, RO, "")                                                                     \
	X(16, MEMORY_KEY, RO, "the reader's key to device memory; 0 if it has not opened the xPU") \
	X(17, LAST_ERROR, RO, "last status that was not DXP_OK, as two's complement; 0 none")      \
	X(18, COMMANDS_DONE, RO, "commands that succeeded; wraps, as all counters")                \
	X(19, COMMANDS_FAILED, RO, "commands that failed")                                         \
	X(20, COMMANDS_QUEUED, RO, "commands that are outstanding")                                \
	X(21, COMMANDS_REFUSED, RO,                                                                \
	  "messages that did not parse or whose sender has no permission")                         \
	X(22, KERNELS, RO, "kernels run")                                                          \
	X(23, BUILDS, RO, "programs built")                                                        \
	X(24, SENT_LO, RO, "bytes sent to other xPUs by SEND and by the task")                     \
	X(25, SENT_HI, RO, "")                                                                     \
	X(26, RECEIVED_LO, RO, "bytes written to device memory by PUT, except PUTs to kernels")    \
	X(27, RECEIVED_HI, RO, "")                                                                 \
	X(28, TASK_SRC_LO, RW,                                                                     \
	  "task: source address in device memory; each host has its own task")                     \
	X(29, TASK_SRC_HI, RW, "")                                                                 \
	X(30, TASK_BYTES_LO, RW, "task: number of bytes")                                          \
	X(31, TASK_BYTES_HI, RW, "")                                                               \
	X(32, TASK_NODE, RW, "task: node to send to")                                              \
	X(33, TASK_DST_LO, RW, "task: destination address in that node's device memory")           \
	X(34, TASK_DST_HI, RW, "")                                                                 \
	X(35, TASK_KEY, RW, "task: key to that memory")                                            \
	X(36, TASK_GO, WO, "write 1: start; reads as 0")                                           \
	X(37, TASK_STATUS, RO,                                                                     \
	  "0 never started, 1 running, 2 done, else the status as two's complement")               \
	X(38, TASK_COUNT, RO, "completed tasks of this host, failed ones included")                \
	X(39, KERNEL_NICS, RO, "functions of the NIC that kernels of hosts use")                   \
	X(40, KERNELS_ARMED, RO,                                                                   \
	  "running or starting kernels with such a function; while not 0, the NIC does not sleep") \
	X(41, MEMORY_KIND, RO, "1 direct: the NIC accesses the memory; 2 bridged: only DMA does")  \
	X(42, BRIDGE_BUFFERS, RO,                                                                  \
	  "buffers of each ring between network and DMA; 0 without a bridge")                      \
	X(43, BRIDGE_BUFFER_BYTES, RO, "bytes of each of these buffers")                           \
	X(44, CORE, RW,                                                                            \
	  "stream core, of the reader's streams: 0 pass, 1 add, 2 checksum, 3 kernel")             \
	X(45, CORE_OPERAND, RW, "core 1: operand added to each word of 4 bytes")                   \
	X(46, CORE_RESULT_LO, RO, "core 2: sum of all words of the reader's last stream")          \
	X(47, CORE_RESULT_HI, RO, "")                                                              \
	X(48, DMA_IN_LO, RO, "bytes that DMA has moved to the device")                             \
	X(49, DMA_IN_HI, RO, "")                                                                   \
	X(50, DMA_OUT_LO, RO, "bytes that DMA has moved from the device")                          \
	X(51, DMA_OUT_HI, RO, "")                                                                  \
	X(52, DMA_FAILED, RO, "failed transfers of the bridge")                                    \
	X(53, DMA_STALLS, RO, "steps of transfers past their time limit")                          \
	X(54, DMA_IN_US_LO, RO, "microseconds with an outstanding DMA to the device")              \
	X(55, DMA_IN_US_HI, RO, "")                                                                \
	X(56, DMA_OUT_US_LO, RO, "microseconds with an outstanding DMA from the device")           \
	X(57, DMA_OUT_US_HI, RO, "")                                                               \
	X(58, BRIDGE_FULL, RO, "times that bytes from the network found no free buffer")           \
	X(59, BRIDGE_TRANSFERS, RO, "outstanding transfers of the bridge")                         \
	X(60, BRIDGE_IN_TAKEN, RO, "buffers to the device in use now")                             \
	X(61, BRIDGE_OUT_TAKEN, RO, "buffers from the device in use now")                          \
	X(62, ALLREDUCE_FROM_LO, WO,                                                               \
	  "allreduce of a kernel: address of the input; write all 12 registers in one access")     \
	X(63, ALLREDUCE_FROM_HI, WO, "")                                                           \
	X(64, ALLREDUCE_TO_LO, WO, "allreduce: address of the output")                             \
	X(65, ALLREDUCE_TO_HI, WO, "")                                                             \
	X(66, ALLREDUCE_COUNT_LO, WO, "allreduce: number of elements")                             \
	X(67, ALLREDUCE_COUNT_HI, WO, "")                                                          \
	X(68, ALLREDUCE_RESULT_LO, WO,                                                             \
	  "allreduce: address of the result: 4 bytes error, 4 bytes tag")                          \
	X(69, ALLREDUCE_RESULT_HI, WO, "")                                                         \
	X(70, ALLREDUCE_GROUP, WO, "allreduce: the host's number of the group of switches")        \
	X(71, ALLREDUCE_TYPE, WO, "allreduce: enum dxp_type")                                      \
	X(72, ALLREDUCE_REDUCTION, WO, "allreduce: enum dxp_reduction")                            \
	X(73, ALLREDUCE_TAG, WO,                                                                   \
	  "allreduce: tag that the result gets; reads as 0, as all of them")                       \
	X(74, ALLREDUCES_DONE, RO, "allreduces of kernels that succeeded")                         \
	X(75, ALLREDUCES_FAILED, RO, "allreduces of kernels that were accepted and failed")        \
	X(76, ALLREDUCES_REFUSED, RO, "allreduces of kernels that were not accepted")              \
	X(77, SWITCH_GROUPS, RO, "groups of switches in which this xPU is a member")               \
	X(78, SWITCH_REFUSED, RO, "groups of switches that were refused by their limits")          \
	X(79, SWITCH_EXPIRED, RO, "groups of switches whose host did not complete their creation")

enum cfg_register {
#define CFG_ENUM(index, name, access, text) CFG_##name = index,
	CFG_REGISTERS(CFG_ENUM)
#undef CFG_ENUM
		CFG_COUNT
};

/* registers of an allreduce, which one access writes */
#define CFG_ALLREDUCE_WORDS (CFG_ALLREDUCE_TAG - CFG_ALLREDUCE_FROM_LO + 1)

enum cfg_access { CFG_ACCESS_RO, CFG_ACCESS_RW, CFG_ACCESS_WO };

struct cfg_info {
	const char *name, *text;
	enum cfg_access access;
};
extern const struct cfg_info cfg_info[CFG_COUNT];

enum cfg_state { CFG_STATE_JOINING, CFG_STATE_READY, CFG_STATE_BUSY };
enum cfg_task_status { CFG_TASK_NEVER, CFG_TASK_BUSY, CFG_TASK_DONE };

struct cfg_task {
	uint64_t source, bytes, destination;
	uint32_t node, key;
	uint32_t status; /* enum cfg_task_status, or a negative status */
	uint32_t count;
};

struct cfg_core {
	uint32_t core, operand;
};

/* Work that a write to the registers starts. */
struct cfg_go {
	bool task;
	bool core;
	bool allreduce; /* `values` are a struct dxp_allreduce_descriptor */
};

/* All registers at one moment: both halves of a 64-bit value are consistent. */
struct cfg_values {
	uint32_t words[CFG_COUNT];
};
void cfg_set_64(struct cfg_values *v, enum cfg_register low, uint64_t value);
void cfg_set_task(struct cfg_values *v, const struct cfg_task *task);

/* Returns 0, or WIRE_NACK_BOUNDS: no such register. */
uint8_t cfg_read(const struct cfg_values *v, uint32_t first, uint32_t count, uint32_t *values);

/* Registers that a host may write: those of its own task and of the stream core. */
struct cfg_target {
	struct cfg_task *task;
	/* the caller of cfg_write() applies the changes */
	struct cfg_core core;
};

/* Writes in order; `target` is NULL if the writer has not opened the xPU. Returns 0, or a NACK code
 * without any change. WIRE_NACK_BOUNDS: no such register, TASK_GO is not 1, or not all registers of
 * an allreduce. WIRE_NACK_RIGHTS: read-only, or not open. WIRE_NACK_RESOURCE: the running task owns
 * one of the registers. */
uint8_t cfg_write(struct cfg_target *target, uint32_t first, uint32_t count, const uint32_t *values,
		  struct cfg_go *go);

#endif
