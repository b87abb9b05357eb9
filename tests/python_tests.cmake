# Tests in Python. A file NAME_test.py holds test classes, and each class is one ctest; its first line says how many
# processors it takes, how long it usually takes, so that what takes long begins early, and whether it runs with --all
# only:
#   class Golden(ProgramTest):  # 2 ranks, 8 s
#   class Check(GpuTest):  # 3 ranks, 90 s, extended
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c
                "import jsonschema, jinja2, matplotlib, plotly, selenium, yaml, prometheus_client, pandas"
                RESULT_VARIABLE problem OUTPUT_QUIET ERROR_QUIET)
if(problem)
  set(Python3_EXECUTABLE /usr/bin/python3)  # packages are the system's, whatever python3 comes first on the PATH
endif()
# Not a script that looks for an interpreter first: that takes time, and in a guest seconds.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable, end='')"
                OUTPUT_VARIABLE Python3_EXECUTABLE COMMAND_ERROR_IS_FATAL ANY)

# Of the tests of programs, those that break off are where sanitizers see most; all others run under them with --all.
set(sanitized_tests collective_faults_test endings_test faults_test gpu_faults_test gpu_pair_faults_test)

# The part of Open MPI that ranks of one host come to in the end, after a look for each kind of network.
set(without_a_look_for_networks OMPI_MCA_pml=ob1)

# Registers the test classes of FOLDER as ctests LABEL.FILE.CLASS, which take the TARGETS. What follows are variables for
# them. tests/cli/launch.py, which they share, wants FABRICBENCH_PROGRAMS and FABRICBENCH_TEST_PROGRAMS.
function(fabricbench_python_tests label folder targets)
  file(GLOB test_files CONFIGURE_DEPENDS ${folder}/*_test.py)
  foreach(file IN LISTS test_files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(GET file STEM module)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    fabricbench_tests_take(${label}.${module} ${path} ${targets})
    file(STRINGS ${file} classes REGEX "^class ")
    foreach(class IN LISTS classes)
      if(NOT class MATCHES "^class ([A-Za-z]+)\\(.*\\):  # ([0-9]+) ranks?, ([0-9]+) s(, extended)?$")
        message(FATAL_ERROR "${file}: '${class}' does not say '  # N ranks, S s'")
      endif()
      set(test ${label}.${module}.${CMAKE_MATCH_1})
      set(processors ${CMAKE_MATCH_2})
      if(processors GREATER 2)
        set(processors 2)  # ranks that wait yield, and starting a job waits more than it computes
      endif()
      set(labels ${label})
      if(CMAKE_MATCH_4 OR (FABRICBENCH_SANITIZE AND NOT module IN_LIST sanitized_tests))
        list(APPEND labels extended)
      endif()
      add_test(NAME ${test}
               COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/run.py ${module}.${CMAKE_MATCH_1}
               WORKING_DIRECTORY ${folder})
      set_tests_properties(${test} PROPERTIES LABELS "${labels}" PROCESSORS ${processors} TIMEOUT ${hung_after_s}
        COST ${CMAKE_MATCH_3} SKIP_RETURN_CODE 77 ENVIRONMENT "${FABRICBENCH_TEST_ENVIRONMENT};\
${without_a_look_for_networks};PYTHONPATH=${folder};\
PYTHONDONTWRITEBYTECODE=1;FABRICBENCH_MPIEXEC=${MPIEXEC_EXECUTABLE};${ARGN}")
    endforeach()
  endforeach()
endfunction()
