/* SPDX-License-Identifier: BSD-3-Clause */
/* What PoCL and its compiler never give back once they have compiled, linked or made an image: not
 * ours, which is C and asks no C++ library for memory. The leak checker asks for this by its
 * name. */
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libstdc++\n";
}
