# What stands for all-major where CMake does not know the word, of nvcc 11.5 and 13.0.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/cuda_architectures.cmake)

function(expect listed expected)
  list(TRANSFORM listed PREPEND "compute_")
  list(JOIN listed "\n" text)
  fabricbench_major_architectures(found "${text}\n")
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${listed} give ${found} instead of ${expected}")
  endif()
endfunction()

expect("35;37;50;52;53;60;61;62;70;72;75;80;86;87" "35-real;50-real;60-real;70-real;80")
expect("75;80;86;87;88;89;90;100;110;103;120;121" "75-real;80-real;90-real;100-real;110-real;120")
