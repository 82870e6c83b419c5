"""The parts that only `make arm64` uses: what compiles for 64-bit Arm, an emulator, and ONNX Runtime for it.

They stand apart from `catalogue.py` so that a change here does not make the others again.
"""

import os
import shutil
import tempfile
from pathlib import Path

from catalogue import PINS, Part
from debian import download, unpack
from fetch import extract
from pip_tool import PartError
from store import Store

PACKAGES = PINS / "arm64.packages"
RUNTIME = PINS / "onnxruntime-arm64.txt"
# In the linker's own script, where the libraries would be if the packages were installed.
INSTALLED = "/usr/aarch64-linux-gnu/lib/"

# Each finds its libraries beside it, wherever the folder is put.
START = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/usr/lib/x86_64-linux-gnu"
exec {} "$@"
"""
# The emulator shows the machine's own /proc/cpuinfo, in which ONNX Runtime finds no Arm processor, and ends.
PROCESSOR = """processor\t: {}
BogoMIPS\t: 100.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

"""
STARTED = {
    "cc": '"$here/usr/bin/aarch64-linux-gnu-gcc-12" -B"$here/usr/aarch64-linux-gnu/bin"',
    "ar": '"$here/usr/bin/aarch64-linux-gnu-ar"',
    "qemu": '"$here/usr/bin/qemu-aarch64" -L "$here/usr/aarch64-linux-gnu"',
}


def fill_tools(store: Store, to: Path) -> None:
    for tool in ["apt-get", "dpkg-deb"]:
        if shutil.which(tool) is None:
            raise PartError(f"the compiler for 64-bit Arm comes from Debian's packages, and there is no {tool} here")
    names = [line for line in PACKAGES.read_text().splitlines() if not line.startswith("#")]
    folder = to / "arm64-tools"
    folder.mkdir()
    with tempfile.TemporaryDirectory(dir=to) as scratch:
        for file in download(names, Path(scratch)):
            unpack(file, folder)
    script = folder / "usr" / "aarch64-linux-gnu" / "lib" / "libc.so"
    script.write_text(script.read_text().replace(INSTALLED, ""))
    processors = folder / "usr" / "aarch64-linux-gnu" / "proc" / "cpuinfo"
    processors.parent.mkdir()
    processors.write_text("".join(PROCESSOR.format(number) for number in range(os.cpu_count() or 1)))
    for name, command in STARTED.items():
        start = folder / name
        start.write_text(START.format(command))
        start.chmod(0o755)


def fill_onnxruntime(store: Store, to: Path) -> None:
    extract(RUNTIME, to, {
        "onnxruntime/capi/libonnxruntime.so.*": "onnxruntime-arm64/libonnxruntime.so",
        "onnxruntime/LICENSE": "onnxruntime-arm64/LICENSE",
    }, platforms=["manylinux_2_28_aarch64"])


ON_REQUEST = [
    Part("arm64-tools", "what compiles for 64-bit Arm, and an emulator", ["arm64-tools"], [PACKAGES], fill_tools),
    Part("onnxruntime-arm64", "ONNX Runtime 1.31 for 64-bit Arm", ["onnxruntime-arm64"], [RUNTIME], fill_onnxruntime),
]
