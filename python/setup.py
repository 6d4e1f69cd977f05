"""Builds the extension: the library by CMake, as libtrellis.a, and the files of src/extension linked with it.

The library is in the parent directory, or in library/ of an sdist. The environment variable TRELLIS_LIBRARY_BUILD
names a build directory of CMake that has libtrellis.a already. With TRELLIS_STATIC=1 the libraries that Trellis uses
are linked in too, except for jansson, whose static library on Debian is not for shared objects: auditwheel copies that
one into the wheel.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
LIBRARY = HERE / "library" if (HERE / "library").is_dir() else HERE.parent
LIBRARY_FILES = ["CMakeLists.txt", "LICENSE", "cmake", "include", "src"]
PACKAGES = ["libutf8proc", "libpcre2-8", "zlib", "libzstd", "jansson"]
# One binary for all versions from 3.10 on; free-threaded interpreters have no stable ABI.
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")


def version() -> str:
    header = (LIBRARY / "include" / "trellis.h").read_text(encoding="utf-8")
    parts = [re.search(rf"TRELLIS_VERSION_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(part.group(1) for part in parts)


class BuildExtension(build_ext):
    def run(self):
        super().run()
        if not self.inplace:
            package = Path(self.build_lib).resolve() / "trellis"
            subprocess.run(
                [sys.executable, str(HERE / "generate.py"), "types", str(package / "_option_types.py")],
                check=True,
                env={**os.environ, "PYTHONPATH": str(package.parent)},
            )

    def build_extension(self, extension):
        ready = os.environ.get("TRELLIS_LIBRARY_BUILD")
        build = Path(ready) if ready else Path(self.build_temp).resolve() / "library"
        if not ready:
            build.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["cmake", "-S", str(LIBRARY), "-B", str(build), "-DTRELLIS_WERROR=OFF", "-DTRELLIS_COMMAND=OFF"],
                check=True,
            )
            subprocess.run(
                ["cmake", "--build", str(build), "--target", "trellis_static", "--parallel", str(os.cpu_count() or 1)],
                check=True,
            )
        wanted = subprocess.run(["pkg-config", "--libs", *PACKAGES], check=True, capture_output=True, text=True)
        libraries = wanted.stdout.split()
        if os.environ.get("TRELLIS_STATIC") == "1":
            libraries = [re.sub(r"^-l(?!jansson)(.*)", r"-l:lib\1.a", library) for library in libraries]
        extension.extra_objects = [str(build / "libtrellis.a")]
        extension.depends += extension.extra_objects
        extension.extra_link_args += [*libraries, "-lunistring", "-lm", "-pthread"]
        super().build_extension(extension)


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in LIBRARY_FILES:
            source, target = LIBRARY / name, Path(base_dir) / "library" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)


setup(
    version=version(),
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
    ext_modules=[
        Extension(
            "trellis._trellis",
            sources=sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/extension/*.c")),
            depends=sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/extension/*.h")),
            include_dirs=[str(LIBRARY / "include")],
            define_macros=[("_GNU_SOURCE", None)] + [("Py_LIMITED_API", "0x030A0000")] * STABLE_ABI,
            extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"],
            extra_link_args=["-Wl,--exclude-libs,ALL"],
            py_limited_api=STABLE_ABI,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if STABLE_ABI else {},
)
