/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of a zygote and of its workers. A kernel can write any file that its worker may write,
 * native code too, so each host has folders of its own: no worker or zygote reads native code that
 * a worker of another host wrote.
 *
 *   SCRATCH/zygote           files of the zygote's compiler
 *   SCRATCH/work-N           files of the compilers of workers with one label, and for the next
 *   SCRATCH/work-0           if hosts trust each other: the same of all workers
 *   CACHE/node               what the zygote keeps, such as the runtime of rv32
 *   CACHE/hosts/host-LABEL   built programs of a host
 *   CACHE/shared             if hosts trust each other: built programs of all
 *
 * A zygote and a worker have their folder as current folder: PoCL reads the name of its folder only
 * once, before the fork, so that it is FOLDERS_CURRENT. */
#ifndef WORKER_FOLDERS_H
#define WORKER_FOLDERS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLDERS_CURRENT "/proc/self/cwd" /* PoCL does not work with "." */
/* labels without workers whose compiler files are kept */
#define FOLDERS_IDLE_MAX  8
#define FOLDERS_HOSTS_MAX 64 /* labels whose programs are kept: the most recently used ones */

struct folders {
	char scratch[PATH_MAX], zygote[PATH_MAX];
	char cache[PATH_MAX], node[PATH_MAX]; /* "": none */
	bool shared;
};

struct worker_folders {
	char work[PATH_MAX];
	char cache[PATH_MAX]; /* "": none */
};

/* Makes the zygote's folders and enters the zygote's own folder. `cache` NULL: none. DXP_EIO,
 * logged. */
int folders_open(struct folders *f, const char *scratch, const char *cache, bool shared);

/* Makes the folders of a worker, in its process before any code of its host runs. `work`: number of
 * the folder for its compiler. `host`: its label, shorter than WORKER_LABEL_BYTES and without '/';
 * "": nothing is kept. False: no folder for its compiler, logged. */
bool folders_make(const struct folders *f, uint32_t work, const char *host,
		  struct worker_folders *out);

/* Removes a folder for compilers that no worker uses. May take very long, because a host decides
 * how many files there are. Any thread may call this. */
void folders_remove(const char *scratch, uint32_t work);

#endif
