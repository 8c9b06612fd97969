/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a whole fabric inside a test: a real manager in a thread, and xPUs that are real nodes with
 * a toy instead of an engine. Memory, registers and transport are the shipped ones. Only "kernels"
 * are fake; the name selects what a launch does:
 *   "ok"     completes at once        "fail"   completes with DXP_EDEVICE
 *   "never"  does not complete        "print"  prints "printed" and completes
 *   "why"    completes with DXP_EDEVICE and a sentence; before, it sends sentences for other
 *            events, which no user may see
 *   "long"   reports its start, then completes
 *   "endless" reports its start and does not complete
 *   others   complete with DXP_ENOENT */
#ifndef TEST_FAKE_XPU_H
#define TEST_FAKE_XPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_MEMORY_BYTES (64u << 20)
#define FAKE_REGISTERS    512
#define FAKE_SENTENCE     "kernel 'why', work-item (1,2,3): fails; why+0x4, line 7"

struct fake_fabric;
struct fake_bridge_faults; /* in test/support/fake_bridge.h */

/* The xPUs are named xpu1, xpu2, ... Asserts on failure. */
struct fake_fabric *fake_fabric_open(unsigned xpus);
void fake_fabric_close(struct fake_fabric *f);

const char *fake_fabric_folder(const struct fake_fabric *f);

/* Stops polling the xPU, so that its peers see a dead node. */
void fake_xpu_freeze(struct fake_fabric *f, unsigned index);

void fake_manager_stop(struct fake_fabric *f);

unsigned fake_xpu_commands(const struct fake_fabric *f, unsigned index);

/* Pieces that the xPU's BRIDGE commands have moved, and the faults to inject. The xPU reports
 * bridged memory with 8 buffers of 1 MiB, and a stream core. */
unsigned fake_xpu_pieces(const struct fake_fabric *f, unsigned index);
struct fake_bridge_faults *fake_xpu_faults(struct fake_fabric *f, unsigned index);

/* The largest number of register writes that arrived in one poll. */
unsigned fake_xpu_writes_at_once(const struct fake_fabric *f, unsigned index);

/* Makes the xPU report direct memory, which it has, to hosts that open it from now on. */
void fake_xpu_direct(struct fake_fabric *f, unsigned index);

/* driver error code of a failing kernel */
#define FAKE_NATIVE (-54)

unsigned fake_xpu_hurries(const struct fake_fabric *f, unsigned index);

/* by which the xPU's answers to CLOCK are ahead of this process's clock */
#define FAKE_CLOCK_NS (1000ull * 1000 * 1000 * 1000)

uint8_t *fake_xpu_memory(struct fake_fabric *f, unsigned index);

#endif
