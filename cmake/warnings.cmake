# SPDX-License-Identifier: BSD-3-Clause
# Warnings are errors under gcc and clang alike; sanitizers, when asked for, cover everything that is built.
add_compile_options(-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wundef -Wvla -Wwrite-strings -Wno-unused-parameter -Wno-missing-field-initializers -fno-strict-aliasing)
add_compile_definitions(_GNU_SOURCE)
if(DXP_SANITIZE)
	add_compile_options(-fsanitize=${DXP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${DXP_SANITIZE})
endif()
