# SPDX-License-Identifier: BSD-3-Clause
# Compiles dxp-switch's XDP data plane for BPF and embeds it. Without libbpf, or a clang for BPF,
# the plane is omitted; CMake and dxp-switch report the reason.
option(DXP_XDP "build the switch's XDP plane (clang, libbpf)" ON)

function(dxp_xdp_missing result)
	set(${result} "" PARENT_SCOPE)
	if(NOT DXP_XDP)
		set(${result} "it was configured with DXP_XDP=OFF" PARENT_SCOPE)
		return()
	endif()
	pkg_check_modules(LIBBPF QUIET libbpf>=1.0)
	if(NOT LIBBPF_FOUND)
		set(${result} "libbpf was not there (tools/setup inc)" PARENT_SCOPE)
		return()
	endif()
	find_program(DXP_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
	if(NOT DXP_CLANG)
		set(${result} "clang was not there (tools/setup inc)" PARENT_SCOPE)
		return()
	endif()
	execute_process(COMMAND ${DXP_CLANG} -target bpf -mcpu=v3 -x c -c /dev/null -o /dev/null
		RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
	if(failed)
		set(${result} "${DXP_CLANG} makes no BPF programs" PARENT_SCOPE)
	endif()
endfunction()

# dxp_xdp_program(OUTPUT out.c NAME variable HEADER declares_it.h SOURCE file.bpf.c): generates
# out.c with the compiled program.
function(dxp_xdp_program)
	cmake_parse_arguments(X "" "OUTPUT;NAME;HEADER;SOURCE" "" ${ARGN})
	get_filename_component(name ${X_SOURCE} NAME_WE)
	set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
	set(script ${PROJECT_SOURCE_DIR}/cmake/embed_bytes.cmake)
	# C library headers depend on the host architecture's macro, which -target bpf does not
	# define.
	set(machine -D__${CMAKE_SYSTEM_PROCESSOR}__)
	if(CMAKE_LIBRARY_ARCHITECTURE)
		list(APPEND machine -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
	endif()
	find_program(DXP_LLVM_STRIP NAMES llvm-strip llvm-strip-14)
	set(strip "")
	if(DXP_LLVM_STRIP)
		set(strip COMMAND ${DXP_LLVM_STRIP} -g ${object})
	endif()
	add_custom_command(
		OUTPUT ${object}
		COMMAND ${DXP_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror
			-Wno-unused-parameter ${machine} -I${PROJECT_SOURCE_DIR}/src
			-I${PROJECT_SOURCE_DIR}/include -MD -MF ${object}.d -MT ${object}
			-c ${X_SOURCE} -o ${object}
		${strip}
		DEPENDS ${X_SOURCE} DEPFILE ${object}.d VERBATIM)
	add_custom_command(
		OUTPUT ${X_OUTPUT}
		COMMAND ${CMAKE_COMMAND} -DSOURCE=${object} -DOUTPUT=${X_OUTPUT} -DNAME=${X_NAME}
			-DHEADER=${X_HEADER} -P ${script}
		DEPENDS ${object} ${script} VERBATIM)
endfunction()
