/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of a zygote and of its workers. A kernel may contain native code, so it can write any
 * file that its worker may write. Each host therefore has its own folders. No worker or zygote
 * reads native code that a worker of another host wrote.
 *
 *   SCRATCH/zygote           files of the zygote's compiler
 *   SCRATCH/work-N           files of compilers, for the workers with one label
 *   SCRATCH/work-0           the same for all workers, if hosts trust each other
 *   CACHE/node               files that the zygote keeps, such as the runtime of rv32
 *   CACHE/hosts/host-LABEL   built programs of one host
 *   CACHE/shared             built programs of all hosts, if hosts trust each other
 *
 * The current folder of a zygote or worker is its compiler's folder. PoCL reads the name of its
 * folder only once, before the fork. That name is FOLDERS_CURRENT, so after the fork it means the
 * worker's folder. */
#ifndef WORKER_FOLDERS_H
#define WORKER_FOLDERS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* a link to the current folder: PoCL does not work with "." */
#define FOLDERS_CURRENT "/proc/self/cwd"
/* labels without a worker whose compiler's folder is kept */
#define FOLDERS_IDLE_MAX 8
/* labels whose built programs are kept: most recently used ones */
#define FOLDERS_HOSTS_MAX 64

struct folders {
	char scratch[PATH_MAX], zygote[PATH_MAX];
	char cache[PATH_MAX], node[PATH_MAX]; /* "": no cache */
	bool shared;
};

struct worker_folders {
	char work[PATH_MAX];
	char cache[PATH_MAX]; /* "": none for built programs */
};

/* Makes the zygote's folders and enters its own. NULL `cache`: no files are kept. DXP_EIO,
 * logged. */
int folders_open(struct folders *f, const char *scratch, const char *cache, bool shared);

/* Makes the folders of a worker. Runs in the worker's process, before any code of its host runs
 * there. `work`: number of the folder for its compiler. `host`: label of the host, shorter than
 * WORKER_LABEL_BYTES and without '/'; "": no programs are kept. Returns false, logged, if the
 * folder for the compiler cannot be made. */
bool folders_make(const struct folders *f, uint32_t work, const char *host,
		  struct worker_folders *out);

/* No worker uses the folder. May take very long, because a host decides how many files it has. Any
 * thread. */
void folders_remove(const char *scratch, uint32_t work);

#endif
