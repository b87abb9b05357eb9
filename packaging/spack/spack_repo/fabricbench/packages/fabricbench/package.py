"""A recipe of Spack 1, for a checkout of the sources:

    spack repo add packaging/spack/spack_repo/fabricbench
    spack dev-build fabricbench@0.1.0
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Fabricbench(CMakePackage, CudaPackage):
    """Benchmarks of a cluster's network, started by MPI: is it as fast as it should be, and if not, what is to blame?"""

    license("Apache-2.0")

    version("0.1.0")

    variant("nccl", default=False, description="Measure NCCL; only its header is needed", when="+cuda")
    variant("verbs", default=True, description="Measure RDMA verbs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")
    depends_on("help2man", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("fmt@8:")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("simdjson")
    depends_on("hwloc@2:")
    depends_on("rdma-core@34:", when="+verbs")
    depends_on("nccl", when="+nccl")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")
    depends_on("python@3:", type="run")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("FABRICBENCH_CUDA", "cuda"),
            self.define_from_variant("FABRICBENCH_NCCL", "nccl"),
            self.define_from_variant("FABRICBENCH_VERBS", "verbs"),
        ]
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
