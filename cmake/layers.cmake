# SPDX-License-Identifier: BSD-3-Clause
# Makes a static library layer-FOLDER for each folder of src/. The linker rejects calls of folders
# that src/layers does not list for it.

# dxp_layers(): reads src/layers. Sets DXP_LAYERS, lowest folder first, and for each
# DXP_KNOWS_FOLDER, the folders that it may use.
function(dxp_layers)
	set(file ${PROJECT_SOURCE_DIR}/src/layers)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
	file(STRINGS ${file} lines REGEX "^[a-z]")
	set(layers "")
	foreach(line ${lines})
		string(REGEX MATCH "^([a-z0-9_]+)[^:]*:(.*)$" line "${line}")
		set(folder ${CMAKE_MATCH_1})
		string(STRIP "${CMAKE_MATCH_2}" knows)
		string(REPLACE " " ";" knows "${knows}")
		foreach(known ${knows})
			if(NOT known IN_LIST layers)
				message(FATAL_ERROR "src/layers: list ${known} above ${folder}, "
					"which knows it")
			endif()
		endforeach()
		list(APPEND layers ${folder})
		set(DXP_KNOWS_${folder} "${knows}" PARENT_SCOPE)
	endforeach()
	set(DXP_LAYERS "${layers}" PARENT_SCOPE)
endfunction()

# dxp_layer(folder SOURCES ... LIBRARIES ...): declares a folder's library, with the system
# libraries that it calls.
function(dxp_layer folder)
	cmake_parse_arguments(L "" "" "SOURCES;LIBRARIES" ${ARGN})
	set(target layer-${folder})
	add_library(${target} STATIC ${L_SOURCES})
	set_target_properties(${target} PROPERTIES
		ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/src)
	target_include_directories(${target}
		PUBLIC ${PROJECT_SOURCE_DIR}/include
		PRIVATE ${PROJECT_SOURCE_DIR}/src)
	target_link_libraries(${target} PUBLIC ${L_LIBRARIES} Threads::Threads)
	foreach(known ${DXP_KNOWS_${folder}})
		target_link_libraries(${target} PUBLIC layer-${known})
	endforeach()
	target_link_libraries(dxp-core INTERFACE ${target})
	dxp_lto(${folder})
	if(NOT DXP_SANITIZE) # code with sanitizers calls their run-time library
		dxp_layer_check(${folder} ${L_LIBRARIES})
	endif()
endfunction()

# dxp_layer_check(folder libraries ...): links the folder's objects with the symbols of its listed
# folders only, so the build fails if it uses another.
function(dxp_layer_check folder)
	set(symbols ${PROJECT_BINARY_DIR}/src)
	set(object ${symbols}/${folder}.o)
	add_custom_command(OUTPUT ${object}
		COMMAND ${CMAKE_LINKER} -r -S --whole-archive $<TARGET_FILE:layer-${folder}>
			-o ${object}
		DEPENDS layer-${folder} VERBATIM)
	add_custom_target(symbols-${folder} DEPENDS ${object})
	set(target check-${folder})
	add_library(${target} MODULE ${object})
	set_target_properties(${target} PROPERTIES
		LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${symbols})
	target_link_libraries(${target} PRIVATE ${ARGN} Threads::Threads)
	target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,-s)
	foreach(known ${DXP_KNOWS_${folder}})
		target_link_options(${target} PRIVATE -Wl,--just-symbols=${symbols}/${known}.o)
		set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${symbols}/${known}.o)
		add_dependencies(${target} symbols-${known})
	endforeach()
endfunction()
