# SPDX-License-Identifier: BSD-3-Clause
# cmake -DSOURCE=kernels.cl -DOUTPUT=kernels.c -P embed.cmake
# The text as a C string, one literal for each line.
file(READ ${SOURCE} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
file(WRITE ${OUTPUT} "/* Made from kernels.cl. */\n#include \"kernels.h\"\n\n"
	"const char kernels_source[] =\n\t\"${text}\";\n")
