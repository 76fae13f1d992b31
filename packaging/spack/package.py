# A recipe for Spack. The program has no published archive: build it from a checkout,
#
#   spack repo create hilbrium-repo && mkdir -p hilbrium-repo/packages/hilbrium
#   cp packaging/spack/package.py hilbrium-repo/packages/hilbrium/ && spack repo add hilbrium-repo
#   spack dev-build --source-path "$PWD" hilbrium@0.1.0
from spack.package import *


class Hilbrium(Package):
    """Molecular dynamics and smoothed particle hydrodynamics along a Hilbert curve."""

    license("MIT OR Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="Ranks over MPI, and parallel HDF5")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("pkgconfig", type="build")
    # MPI is bound by bindgen
    depends_on("llvm+clang", type="build", when="+mpi")
    depends_on("openmpi@4:", when="+mpi")
    depends_on("hdf5@1.10:+mpi", when="+mpi")
    depends_on("hdf5@1.10:~mpi", when="~mpi")

    def setup_build_environment(self, env):
        env.set("HDF5_DIR", self.spec["hdf5"].prefix)
        if self.spec.satisfies("+mpi"):
            env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def install(self, spec, prefix):
        features = [] if spec.satisfies("+mpi") else ["--no-default-features"]
        cargo = which("cargo", required=True)
        cargo("install", "--path", ".", "--root", prefix, "--locked", *features)
        hilbrium = Executable(prefix.bin.hilbrium)
        hilbrium("manual", prefix.share.man.man1)
        install_tree("inputs", prefix.share.hilbrium.inputs)
