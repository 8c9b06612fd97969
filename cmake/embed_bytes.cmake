# SPDX-License-Identifier: BSD-3-Clause
#   cmake -DSOURCE=file -DOUTPUT=out.c -DNAME=variable -DHEADER=declares_it.h -P embed_bytes.cmake
#
# Writes the bytes of a file as a C array `NAME`, and their number as `NAME_bytes`.
file(READ ${SOURCE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n\t" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "/* Made from a file that the build made. */\n#include \"${HEADER}\"\n\n"
	"_Alignas(16) const unsigned char ${NAME}[] = {\n\t${bytes}};\n"
	"const size_t ${NAME}_bytes = sizeof(${NAME});\n")
