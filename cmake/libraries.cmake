# SPDX-License-Identifier: BSD-3-Clause
# Libraries for other programs. They export the functions of include/dxp and nothing else.

# dxp_shared_library(target OUTPUT name LAYERS folder ...): builds libNAME.so from these folders of
# src/ and those that they use. Exports the functions marked DXP_API, with version DXP_0.1.
function(dxp_shared_library target)
	cmake_parse_arguments(L "" "OUTPUT" "LAYERS" ${ARGN})
	set(map ${PROJECT_SOURCE_DIR}/cmake/lib${L_OUTPUT}.map)
	list(TRANSFORM L_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:layer-\\1>"
		OUTPUT_VARIABLE objects)
	add_library(${target} SHARED ${objects})
	list(TRANSFORM L_LAYERS PREPEND layer-)
	target_link_libraries(${target} PRIVATE ${L_LAYERS})
	target_include_directories(${target} PUBLIC
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
	target_link_options(${target} PRIVATE -Wl,--version-script=${map})
	set_target_properties(${target} PROPERTIES
		LINKER_LANGUAGE C LINK_DEPENDS ${map} OUTPUT_NAME ${L_OUTPUT}
		EXPORT_NAME ${L_OUTPUT}
		VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
	dxp_ships(${target})
	add_library(dxp::${L_OUTPUT} ALIAS ${target})
	install(TARGETS ${target} EXPORT dxp LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
		INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# dxp_cmake_package(): installs the files of find_package(dxp), with targets for the shared
# libraries and libdxp.a.
function(dxp_cmake_package)
	include(CMakePackageConfigHelpers)
	set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/dxp)
	set(made ${PROJECT_BINARY_DIR}/lib/cmake/dxp)
	configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/dxp-config.cmake.in
		${made}/dxp-config.cmake INSTALL_DESTINATION ${folder}
		PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
	write_basic_package_version_file(${made}/dxp-config-version.cmake
		COMPATIBILITY SameMinorVersion)
	install(FILES ${made}/dxp-config.cmake ${made}/dxp-config-version.cmake
		DESTINATION ${folder})
	install(EXPORT dxp NAMESPACE dxp:: FILE dxp-targets.cmake DESTINATION ${folder})
endfunction()

# dxp_static_library(name LAYERS folder ...): builds libNAME.a of one object, from these folders of
# src/ and those that they use. Symbols are local unless they begin with dxp_.
function(dxp_static_library name)
	cmake_parse_arguments(L "" "" "LAYERS" ${ARGN})
	set(object ${PROJECT_BINARY_DIR}/src/lib${name}.o)
	set(archive ${PROJECT_BINARY_DIR}/lib/lib${name}.a)
	list(TRANSFORM L_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:layer-\\1>"
		OUTPUT_VARIABLE objects)
	# Highest folder first: a linker finds called functions in later libraries.
	set(layers ${DXP_LAYERS})
	list(REVERSE layers)
	list(TRANSFORM layers PREPEND layer-)
	list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
	dxp_shipped_object(shipped)
	add_custom_command(OUTPUT ${archive}
		COMMAND ${CMAKE_LINKER} -r -o ${object} ${objects} ${shipped} ${archives}
		COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=dxp_* ${object}
		COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
		COMMAND ${CMAKE_AR} rcs ${archive} ${object}
		DEPENDS ${objects} ${shipped} ${layers}
		COMMAND_EXPAND_LISTS VERBATIM)
	add_custom_target(lib${name}-archive ALL DEPENDS ${archive})
	install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
