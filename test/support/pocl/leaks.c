/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the leak checker ignore leaks of PoCL and its compiler. They leak when they compile, link
 * or create an image. C++ allocations are ignored too, because this project makes none itself. The
 * leak checker calls this function by name. */
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libstdc++\n";
}
