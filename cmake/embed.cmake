# SPDX-License-Identifier: BSD-3-Clause
# dxp_embed(OUTPUT out.c NAME variable HEADER declares_it.h SOURCES file ...): generates out.c, one
# C string of all files' text.
function(dxp_embed)
	cmake_parse_arguments(E "" "OUTPUT;NAME;HEADER" "SOURCES" ${ARGN})
	list(JOIN E_SOURCES "," sources)
	set(script ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake)
	add_custom_command(
		OUTPUT ${E_OUTPUT}
		COMMAND ${CMAKE_COMMAND} -DSOURCES=${sources} -DOUTPUT=${E_OUTPUT}
			-DNAME=${E_NAME} -DHEADER=${E_HEADER} -P ${script}
		DEPENDS ${E_SOURCES} ${script} VERBATIM)
endfunction()
