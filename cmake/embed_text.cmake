# SPDX-License-Identifier: BSD-3-Clause
#   cmake -DSOURCES=file[,file ...] -DOUTPUT=out.c -DNAME=variable -DHEADER=declares_it.h
#     -P embed_text.cmake
#
# Writes the text of all files as one C string, with one literal for each line.
string(REPLACE "," ";" SOURCES "${SOURCES}")
set(all "")
foreach(source ${SOURCES})
	file(READ ${source} text)
	string(APPEND all "${text}")
endforeach()
string(REPLACE "\\" "\\\\" all "${all}")
string(REPLACE "\"" "\\\"" all "${all}")
string(REPLACE "\n" "\\n\"\n\t\"" all "${all}")
file(WRITE ${OUTPUT} "/* Made from ${SOURCES}. */\n#include \"${HEADER}\"\n\n"
	"const char ${NAME}[] =\n\t\"${all}\";\n")
