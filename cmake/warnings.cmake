# SPDX-License-Identifier: BSD-3-Clause
# Warnings are errors with gcc and clang. Sanitizers, if enabled, apply to every target.
add_compile_options(
	-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wundef -Wvla -Wwrite-strings -Wno-unused-parameter -Wno-missing-field-initializers
	-fno-strict-aliasing)
add_compile_definitions(_GNU_SOURCE)
if(DXP_SANITIZE)
	add_compile_options(
		-fsanitize=${DXP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${DXP_SANITIZE})
	dxp_link_fast() # each program contains the sanitizers' run-time library
	# At -O1 and with sanitizers, gcc derives too few value ranges for these warnings.
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		add_compile_options(-Wno-format-truncation -Wno-maybe-uninitialized)
	endif()
	# ThreadSanitizer does not support fences. This project's fences order memory that it shares
	# with other processes.
	if(DXP_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		add_compile_options(-Wno-tsan)
	endif()
endif()

# Instruments every target for libFuzzer; only the fuzz programs link its main().
if(DXP_FUZZ)
	if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
		message(FATAL_ERROR "libFuzzer comes with clang: cmake --preset fuzz")
	endif()
	add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# dxp_compile_fast(): compiles the targets of this folder and of those below for a short build. With
# sanitizers: not optimised, which takes a quarter of the time, and finds more rather than less.
# Fuzzing needs the speed.
macro(dxp_compile_fast)
	if(DXP_SANITIZE AND NOT DXP_FUZZ)
		add_compile_options(-O0)
	endif()
endmacro()
