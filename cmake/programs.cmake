# SPDX-License-Identifier: BSD-3-Clause
# Functions that declare each kind of target.

# dxp_program(NAME name SOURCES ... LIBRARIES ...): builds into build/bin, installs to bin.
function(dxp_program)
	cmake_parse_arguments(P "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
	add_executable(${P_NAME} ${P_SOURCES})
	target_link_libraries(${P_NAME} PRIVATE dxp-core ${P_LIBRARIES})
	target_include_directories(${P_NAME} PRIVATE
		${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
	dxp_ships(${P_NAME})
	install(TARGETS ${P_NAME} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# dxp_test(file.c [LIBRARIES ...]): builds one cmocka program. Its ctest name is folder/name, its
# label the folder.
function(dxp_test source)
	cmake_parse_arguments(T "" "" "LIBRARIES" ${ARGN})
	get_filename_component(name ${source} NAME_WE)
	get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
	set(target test-${folder}-${name})
	add_executable(${target} ${source})
	set_target_properties(${target} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
	target_link_libraries(${target} PRIVATE dxp-core cmocka ${T_LIBRARIES})
	target_include_directories(${target} PRIVATE
		${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
	target_compile_definitions(${target} PRIVATE DXP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
	add_test(NAME ${folder}/${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
	set_tests_properties(${folder}/${name} PROPERTIES
		TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS ${folder}
		ENVIRONMENT DXP_CONFIG=) # ignores configuration files of this machine
	if(folder STREQUAL sim) # computes without a pause
		dxp_test_time(${folder}/${name} ${DXP_CORE_SLOTS})
	else()
		dxp_test_time(${folder}/${name} 2)
	endif()
endfunction()

# dxp_absent_test(folder/name reason): adds a skipped test in place of one that this build cannot
# run.
function(dxp_absent_test name reason)
	get_filename_component(folder ${name} DIRECTORY)
	add_test(NAME ${name} COMMAND sh -c "echo \"skipped: $1\"; exit 77" - "${reason}")
	set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS ${folder})
endfunction()

# dxp_absent_tests(folder reason source ...): calls dxp_absent_test for each source.
function(dxp_absent_tests folder reason)
	foreach(source ${ARGN})
		get_filename_component(name ${source} NAME_WE)
		string(REGEX REPLACE "^fuzz_" "" name ${name})
		dxp_absent_test(${folder}/${name} "${reason}")
	endforeach()
endfunction()

# dxp_script_test(script folder): adds an executable script as the test folder/name.
function(dxp_script_test script folder)
	get_filename_component(name ${script} NAME_WE)
	add_test(NAME ${folder}/${name} COMMAND ${script} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
	set_tests_properties(${folder}/${name} PROPERTIES
		TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS ${folder}
		ENVIRONMENT "DXP_BIN=${PROJECT_BINARY_DIR}/bin;DXP_SOURCE=${PROJECT_SOURCE_DIR}")
	set_property(TEST ${folder}/${name} APPEND PROPERTY ENVIRONMENT DXP_CONFIG=)
	dxp_test_time(${folder}/${name} 2)
endfunction()

# dxp_fuzz(fuzz_name.c): adds the test fuzz/name, which runs the target on test/fuzz/corpus/name and
# mutations. With DXP_FUZZ, also builds the libFuzzer program test/fuzz-name.
function(dxp_fuzz source)
	get_filename_component(name ${source} NAME_WE)
	string(REGEX REPLACE "^fuzz_" "" name ${name})
	set(targets test-fuzz-${name})
	add_executable(test-fuzz-${name} ${source})
	target_link_libraries(test-fuzz-${name} PRIVATE test-replay)
	if(DXP_FUZZ)
		list(APPEND targets fuzz-${name})
		add_executable(fuzz-${name} ${source})
		target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
	endif()
	foreach(target ${targets})
		set_target_properties(${target} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
		target_link_libraries(${target} PRIVATE dxp-core)
		target_include_directories(${target} PRIVATE
			${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
	endforeach()
	add_test(NAME fuzz/${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
		COMMAND test-fuzz-${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
	set_tests_properties(fuzz/${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS fuzz)
	dxp_test_time(fuzz/${name} ${DXP_CORE_SLOTS})
endfunction()
