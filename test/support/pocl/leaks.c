/* SPDX-License-Identifier: BSD-3-Clause */
/* Suppresses leaks of PoCL and its compiler after compiling, linking or creating an image. This
 * project makes no C++ allocations. The leak checker calls this function by name. */
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libstdc++\n";
}
