# SPDX-License-Identifier: BSD-3-Clause
# The libraries for other programs. They export the functions of include/dxp and nothing else.

# dxp_shared_library(target OUTPUT name LAYERS folder ...): builds libNAME.so from these folders of
# src/ and from what they call. It exports what DXP_API marks, as version DXP_0.1.
function(dxp_shared_library target)
	cmake_parse_arguments(L "" "OUTPUT" "LAYERS" ${ARGN})
	set(map ${PROJECT_SOURCE_DIR}/cmake/libdxp.map)
	list(TRANSFORM L_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:layer-\\1>"
		OUTPUT_VARIABLE objects)
	add_library(${target} SHARED ${objects})
	list(TRANSFORM L_LAYERS PREPEND layer-)
	target_link_libraries(${target} PRIVATE ${L_LAYERS})
	target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
	target_link_options(${target} PRIVATE -Wl,--version-script=${map})
	set_target_properties(${target} PROPERTIES
		LINKER_LANGUAGE C LINK_DEPENDS ${map} OUTPUT_NAME ${L_OUTPUT}
		VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
	dxp_ships(${target})
	install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# dxp_static_library(name): builds libNAME.a of all folders of src/.
function(dxp_static_library name)
	list(TRANSFORM DXP_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:layer-\\1>"
		OUTPUT_VARIABLE objects)
	add_library(lib${name}-archive STATIC ${objects})
	set_target_properties(lib${name}-archive PROPERTIES
		LINKER_LANGUAGE C OUTPUT_NAME ${name})
	install(TARGETS lib${name}-archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
