# SPDX-License-Identifier: BSD-3-Clause
# Makes warnings errors with gcc and clang. Sanitizers, if enabled, apply to every target.
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
	# At -O1 with sanitizers, gcc knows too little about ranges, so these warnings would be
	# wrong.
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		add_compile_options(-Wno-format-truncation -Wno-maybe-uninitialized)
	endif()
	# ThreadSanitizer warns about fences, which it does not support. The fences here order
	# memory shared with other processes, which it does not check.
	if(DXP_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		add_compile_options(-Wno-tsan)
	endif()
endif()

# Instruments every target for libFuzzer. Only the fuzz programs link libFuzzer's main().
if(DXP_FUZZ)
	if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
		message(FATAL_ERROR "libFuzzer comes with clang: cmake --preset fuzz")
	endif()
	add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# dxp_compile_fast(): shortens compilation of this folder and its subfolders. With sanitizers, code
# is not optimised, which takes a quarter of the time and finds no less. Fuzzing needs fast code, so
# it keeps the optimisation.
macro(dxp_compile_fast)
	if(DXP_SANITIZE AND NOT DXP_FUZZ)
		add_compile_options(-O0)
	endif()
endmacro()
