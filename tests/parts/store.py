"""The folder that the parts live in: stamps, the lock, and putting a part in place whole or not at all.

A part is ready when its stamp holds the digest of everything that it was made from. Nothing here knows
what the parts are.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path


def digest_of(files: Iterable[Path], extra: str = "") -> str:
    """SHA-256 over the names and contents of `files`, in name order, and `extra`."""
    total = hashlib.sha256(extra.encode())
    for file in sorted(files):
        total.update(b"\0" + file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


class Store:
    """`<repository>/.parts`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stamps = root / ".stamps"
        self.scratch = root / ".scratch"

    def path(self, folder: str) -> Path:
        return self.root / folder

    def is_ready(self, name: str, digest: str, folders: Iterable[str]) -> bool:
        try:
            stamp = (self.stamps / name).read_text()
        except FileNotFoundError:
            return False
        return stamp == digest and all(self.path(folder).is_dir() for folder in folders)

    def put(self, name: str, digest: str, folders: list[str], fill: Callable[[Path], None]) -> None:
        """Lets `fill` lay out `folders` below a scratch folder, then moves each into place and stamps the part.

        A failure or an interruption at any point leaves the part unstamped, so that the next call makes it again.
        """
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.stamps.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=self.scratch))
        try:
            fill(scratch)
            (self.stamps / name).unlink(missing_ok=True)
            for folder in folders:
                target = self.path(folder)
                if target.exists():
                    os.rename(target, scratch / f"{folder}.old")
                os.rename(scratch / folder, target)
            stamp = scratch / "stamp"
            stamp.write_text(digest)
            os.rename(stamp, self.stamps / name)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @contextmanager
    def locked(self, on_wait: Callable[[], None], is_done: Callable[[], bool] = lambda: False):
        """Holds the folder for this process, and gives True. `on_wait` is called once if another set-up holds it now. Gives False
        without holding it as soon as `is_done`: then the other set-up has made what this process wants.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with open(self.root / ".lock", "w") as handle:
            is_told = False
            while not is_done():
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not is_told:
                        is_told = True
                        on_wait()
                    time.sleep(0.2)
            else:
                yield False
                return
            # Whoever was interrupted before has left its scratch folders; no one else is at work now.
            shutil.rmtree(self.scratch, ignore_errors=True)
            yield True


def seconds_since(start: float) -> str:
    return f"{time.monotonic() - start:.1f} s"
