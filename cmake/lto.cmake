# SPDX-License-Identifier: BSD-3-Clause
# Optimises across files: 7 % more small messages per second, because the core has many short
# functions. Applies to installed targets only. Objects hold both forms, and tests link the plain
# one, because link-time optimisation would add 5 s to each of a hundred links. Needs gcc: clang 14
# does not write such objects.
option(DXP_LTO "optimise programs and libdxp.so across files (gcc, release)" ON)
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR DXP_SANITIZE OR
   NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
	set(DXP_LTO OFF)
endif()
if(DXP_LTO)
	add_link_options($<IF:$<BOOL:$<TARGET_PROPERTY:SHIPS>>,-flto=auto,-fno-lto>)
endif()

# dxp_lto(target): links a program or shared library with optimisation across files, or compiles a
# static library so that it can be linked this way.
function(dxp_lto target)
	if(NOT DXP_LTO)
		return()
	endif()
	get_target_property(type ${target} TYPE)
	if(type STREQUAL "STATIC_LIBRARY")
		target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
	else()
		set_target_properties(${target} PROPERTIES SHIPS TRUE)
	endif()
endfunction()
