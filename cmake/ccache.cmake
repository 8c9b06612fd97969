# SPDX-License-Identifier: BSD-3-Clause
# Compiles through ccache if it is installed, so that a second cold build takes only seconds. If the
# caller chose a launcher (CMAKE_C_COMPILER_LAUNCHER), keeps it.
option(DXP_CCACHE "compile through ccache where it is installed" ON)
if(DXP_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
	find_program(DXP_CCACHE_PROGRAM ccache)
	mark_as_advanced(DXP_CCACHE_PROGRAM)
	if(DXP_CCACHE_PROGRAM)
		set(CMAKE_C_COMPILER_LAUNCHER ${DXP_CCACHE_PROGRAM})
	endif()
endif()
