# SPDX-License-Identifier: BSD-3-Clause
# How each kind of target is declared, so that the lists in the folders hold names and nothing else.
include(CMakeParseArguments)

# dxp_program(NAME name SOURCES ... LIBRARIES ...): a program in build/bin.
function(dxp_program)
	cmake_parse_arguments(P "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
	add_executable(${P_NAME} ${P_SOURCES})
	target_link_libraries(${P_NAME} PRIVATE dxp-core ${P_LIBRARIES})
	target_include_directories(${P_NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
endfunction()

# dxp_test(file.c [LIBRARIES ...]): one cmocka program, named after its file, known to ctest as folder/name.
function(dxp_test source)
	cmake_parse_arguments(T "" "" "LIBRARIES" ${ARGN})
	get_filename_component(name ${source} NAME_WE)
	get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
	set(target test-${folder}-${name})
	add_executable(${target} ${source})
	set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
	target_link_libraries(${target} PRIVATE dxp-core cmocka ${T_LIBRARIES})
	target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
	target_compile_definitions(${target} PRIVATE DXP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
	add_test(NAME ${folder}/${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
	set_tests_properties(${folder}/${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()
