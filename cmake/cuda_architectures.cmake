# The word all-major for CMAKE_CUDA_ARCHITECTURES came with CMake 3.23; Ubuntu 22.04 and DGX OS 6 have 3.22.

# Sets RESULT to what the word stands for: the oldest architecture and each major one, and PTX of the newest for what
# comes after it. LISTED: what `nvcc --list-gpu-arch` prints.
function(fabricbench_major_architectures result listed)
  string(REGEX MATCHALL "compute_[0-9]+" all "${listed}")
  list(TRANSFORM all REPLACE "compute_" "")
  list(SORT all COMPARE NATURAL)
  set(architectures ${all})
  list(FILTER architectures INCLUDE REGEX "0$")
  list(GET all 0 oldest)
  list(PREPEND architectures ${oldest})
  list(REMOVE_DUPLICATES architectures)
  list(POP_BACK architectures newest)
  list(TRANSFORM architectures APPEND "-real")
  set(${result} ${architectures} ${newest} PARENT_SCOPE)
endfunction()
