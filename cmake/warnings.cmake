# SPDX-License-Identifier: BSD-3-Clause
include(CheckLinkerFlag)

# Warnings are errors under gcc and clang alike; sanitizers, when asked for, cover everything built.
add_compile_options(
	-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wundef -Wvla -Wwrite-strings -Wno-unused-parameter -Wno-missing-field-initializers
	-fno-strict-aliasing)
add_compile_definitions(_GNU_SOURCE)
if(DXP_SANITIZE)
	add_compile_options(
		-fsanitize=${DXP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${DXP_SANITIZE})
	# Each program holds the sanitizers' run time: the usual linker takes four times as long.
	check_linker_flag(C -fuse-ld=lld DXP_LLD)
	if(DXP_LLD)
		add_link_options(-fuse-ld=lld)
	endif()
	# gcc knows fewer ranges of values at -O1, and with sanitizers, than these warnings need.
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		add_compile_options(-Wno-format-truncation -Wno-maybe-uninitialized)
	endif()
	# ThreadSanitizer does not see fences. Ours order memory that other processes share.
	if(DXP_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		add_compile_options(-Wno-tsan)
	endif()
endif()

# Coverage for libFuzzer in everything; only its own programs link its main().
if(DXP_FUZZ)
	if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
		message(FATAL_ERROR "libFuzzer comes with clang: cmake --preset fuzz")
	endif()
	add_compile_options(-fsanitize=fuzzer-no-link)
endif()
