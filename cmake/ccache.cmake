# SPDX-License-Identifier: BSD-3-Clause
# Compiles through ccache if installed: a second cold build takes seconds. Keeps a launcher that the
# caller chose (CMAKE_C_COMPILER_LAUNCHER).
option(DXP_CCACHE "compile through ccache where it is installed" ON)
if(DXP_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
	find_program(DXP_CCACHE_PROGRAM ccache)
	mark_as_advanced(DXP_CCACHE_PROGRAM)
	if(DXP_CCACHE_PROGRAM)
		set(CMAKE_C_COMPILER_LAUNCHER ${DXP_CCACHE_PROGRAM})
	endif()
endif()
