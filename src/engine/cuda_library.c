/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cuda_library.h"

#include <dlfcn.h>
#include <pthread.h>

#include <dxp/status.h>

#include "base/log.h"

#define LIBRARY "libcuda.so.1"
/* Oldest driver with cuFuncGetParamInfo (CUDA 12.4). Without it, a launch with too few arguments
 * would read out of bounds. */
#define DRIVER "the NVIDIA driver 550 or newer"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cuda_library library;
static int library_status = DXP_EUNSUPPORTED;

static void library_open(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		log_error("cannot open %s (%s); install " DRIVER ", or choose another engine",
			  LIBRARY, dlerror());
		return;
	}
#define CUDA_RESOLVE(name, parameters)                                                           \
	*(void **)&library.name = dlsym(handle, #name);                                          \
	if (!library.name) {                                                                     \
		log_error("%s has no %s; install " DRIVER ", or choose another engine", LIBRARY, \
			  #name);                                                                \
		return;                                                                          \
	}
	CUDA_FUNCTIONS(CUDA_RESOLVE)
#undef CUDA_RESOLVE
	library_status = DXP_OK;
}

int cuda_library_get(const struct cuda_library **out)
{
	pthread_once(&once, library_open);
	if (library_status != DXP_OK)
		return library_status;
	int error = library.cuInit(0); /* may be called again */
	if (error != CUDA_OK) {
		log_error("cannot start CUDA: %s (%d); check that nvidia-smi works and that this "
			  "user may open /dev/nvidia*",
			  cuda_error_text(&library, error), error);
		return DXP_EUNSUPPORTED;
	}
	*out = &library;
	return DXP_OK;
}

const char *cuda_error_text(const struct cuda_library *cu, int error)
{
	const char *text = NULL;

	if (cu->cuGetErrorString(error, &text) != CUDA_OK || !text)
		return "a CUDA error";
	return text;
}

/* Documented as "leaves the process in an inconsistent state and any further CUDA work will return
 * the same error". */
bool cuda_error_sticky(int error)
{
	switch (error) {
	case 4:   /* deinitialised */
	case 201: /* invalid context */
	case 214: /* uncorrectable memory error */
	case 220: /* link to another device */
	case 226: /* contained error */
	case 700: /* illegal address */
	case 702: /* launch timeout */
	case 709: /* context destroyed */
	case 710: /* assert */
	case 714: /* hardware stack */
	case 715: /* illegal instruction */
	case 716: /* misaligned address */
	case 717: /* invalid address space */
	case 718: /* invalid program counter */
	case 719: /* launch failed */
	case 721: /* tensor memory leak */
	case 911: /* external device */ return true;
	default: return false;
	}
}
