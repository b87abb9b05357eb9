# Tests in Python. A file NAME_test.py holds test classes, and each class is one ctest; its first line says how many
# processors it takes and after how long it counts as hung:
#   class Golden(ProgramTest):  # 2 ranks, 120 s
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import jsonschema" RESULT_VARIABLE problem OUTPUT_QUIET ERROR_QUIET)
if(problem)
  set(Python3_EXECUTABLE /usr/bin/python3)  # packages are the system's, whatever python3 comes first on the PATH
endif()

# Registers the test classes of FOLDER as ctests LABEL.FILE.CLASS: of every NAME_test.py, or of those for whose NAME
# stands in FABRICBENCH_ONLY_TESTS where that is set. What follows are variables for them.
# tests/cli/launch.py, which they share, wants FABRICBENCH_PROGRAMS and FABRICBENCH_TEST_PROGRAMS.
function(fabricbench_python_tests label folder)
  file(GLOB test_files CONFIGURE_DEPENDS ${folder}/*_test.py)
  if(FABRICBENCH_ONLY_TESTS)
    list(JOIN FABRICBENCH_ONLY_TESTS "|" names)
    list(FILTER test_files INCLUDE REGEX "/(${names})_test\\.py$")
  endif()
  foreach(file IN LISTS test_files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(GET file STEM module)
    file(STRINGS ${file} classes REGEX "^class ")
    foreach(class IN LISTS classes)
      if(NOT class MATCHES "^class ([A-Za-z]+)\\(.*\\):  # ([0-9]+) ranks?, ([0-9]+) s$")
        message(FATAL_ERROR "${file}: '${class}' does not say '  # N ranks, S s'")
      endif()
      set(test ${label}.${module}.${CMAKE_MATCH_1})
      set(processors ${CMAKE_MATCH_2})
      if(processors GREATER 2)
        set(processors 2)  # ranks that wait yield, and starting a job waits more than it computes
      endif()
      add_test(NAME ${test}
               COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/run.py ${module}.${CMAKE_MATCH_1}
               WORKING_DIRECTORY ${folder})
      set_tests_properties(${test} PROPERTIES LABELS ${label} PROCESSORS ${processors} TIMEOUT ${CMAKE_MATCH_3}
        COST ${CMAKE_MATCH_3}  # what may take long begins early
        SKIP_RETURN_CODE 77 ENVIRONMENT "${FABRICBENCH_TEST_ENVIRONMENT};PYTHONPATH=${folder};\
PYTHONDONTWRITEBYTECODE=1;FABRICBENCH_MPIEXEC=${MPIEXEC_EXECUTABLE};${ARGN}")
    endforeach()
  endforeach()
endfunction()
