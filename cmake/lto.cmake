# SPDX-License-Identifier: BSD-3-Clause
# Optimises the folders on a message's path across files: 7 % more small messages per second,
# because they have many short functions. Makes one object that all installed programs and libraries
# link instead of these folders' libraries. Tests link the libraries, to replace functions. Needs
# gcc: clang 14 cannot write such an object.
option(DXP_LTO "optimise the path of a message across files (gcc, release)" ON)
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR DXP_SANITIZE OR
   NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
	set(DXP_LTO OFF)
endif()
if(DXP_LTO) # the libraries hold both forms; links use the plain form
	add_link_options(-fno-lto)
endif()
set(DXP_LTO_LAYERS base wire crypto keys link rltp seal nic node)
set(DXP_LTO_OBJECT ${PROJECT_BINARY_DIR}/src/optimised.o)

# dxp_lto(folder): compiles a folder of DXP_LTO_LAYERS in both forms: for the object, and plain.
function(dxp_lto folder)
	if(DXP_LTO AND folder IN_LIST DXP_LTO_LAYERS)
		target_compile_options(layer-${folder} PRIVATE -flto -ffat-lto-objects)
	endif()
endfunction()

# dxp_lto_object(): makes the object, once, after the last folder.
function(dxp_lto_object)
	if(NOT DXP_LTO)
		return()
	endif()
	list(TRANSFORM DXP_LTO_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:layer-\\1>"
		OUTPUT_VARIABLE objects)
	add_custom_command(OUTPUT ${DXP_LTO_OBJECT}
		COMMAND ${CMAKE_C_COMPILER} -r -flto=auto -flinker-output=nolto-rel ${objects}
			-o ${DXP_LTO_OBJECT}
		DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM)
	add_custom_target(dxp-optimised DEPENDS ${DXP_LTO_OBJECT})
endfunction()

# dxp_shipped_object(result): sets result to the object, or to nothing.
function(dxp_shipped_object result)
	set(${result} "" PARENT_SCOPE)
	if(DXP_LTO)
		set(${result} ${DXP_LTO_OBJECT} PARENT_SCOPE)
	endif()
endfunction()

# dxp_ships(target): links an installed program or shared library with the object.
function(dxp_ships target)
	if(DXP_LTO)
		target_sources(${target} PRIVATE ${DXP_LTO_OBJECT})
		add_dependencies(${target} dxp-optimised)
	endif()
endfunction()
