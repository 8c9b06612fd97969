# SPDX-License-Identifier: BSD-3-Clause
# Optimisation across files, which the core with its many short functions gains from: a tenth more
# small messages per second. For what ships only: objects hold both forms, and tests link the plain
# one, since each of a hundred links would take 5 s. gcc only: clang 14 has no such objects.
option(DXP_LTO "optimise programs and libdxp.so across files (gcc, release)" ON)
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR DXP_SANITIZE OR
   NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
	set(DXP_LTO OFF)
endif()
if(DXP_LTO)
	add_link_options($<IF:$<BOOL:$<TARGET_PROPERTY:SHIPS>>,-flto=auto,-fno-lto>)
endif()

# dxp_lto(target): a program or shared library is linked so, or a static library can be.
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
