/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the leak checker, which calls this by name, ignore leaks of PoCL and its compiler when they
 * compile, link or create an image. This project makes no C++ allocations, so these are ignored
 * too. */
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libstdc++\n";
}
