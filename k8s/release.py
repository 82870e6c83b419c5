"""Writes a release into the manifests: where its images and its module are, and the SHA-256 of both forms of the module.

    python3 k8s/release.py --registry registry.you.org/agent-sentinel --version 0.2.0 \
        --module target/wasm32-wasip1/release/sentinel_filter.wasm --module-url https://files.you.org/sentinel/0.2.0/plugin.wasm \
        --image-digest sha256:... (of the filter's image, as the push prints it)

Every place must be there as often as is expected, so that none is left behind. Needs nothing but Python.
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

sys.dont_write_bytecode = True

import render  # noqa: E402

# Files that `make render` writes are written anew from these.
REMOTE = ["fragments/module-remote.yaml"]
MESHES = ["fragments/module-oci.yaml", "overlays/istio-wasm-plugin/gateway/wasm-plugin.yaml",
          "overlays/envoy-gateway/gateway/extension-policy.yaml"]
IMAGES = ["base/kustomization.yaml", "overlays/standalone/kustomization.yaml"]
HOSTS = ["fragments/modules-cluster.yaml"]

DIGEST = r'(sha256: ")[0-9a-f]{64}(")'
FILTER_IMAGE = r"\w[\w./-]*/filter:[\w.-]+"
SERVICE_IMAGE = r"(newName: )[\w./-]+/embedding-service(\s+newTag: )[\w.-]+"
# Address, server name and name in the certificate, within the cluster `modules`.
MODULES_HOST = (r"(- name: modules\n(?:      .*\n)*?.*socket_address: \{address: )[\w.-]+"
                r"((?:.*\n)(?:      .*\n)*? +sni: )[\w.-]+((?:.*\n)(?:      .*\n)*?.*matcher: \{exact: )[\w.-]+")


def put(text: str, file: str, pattern: str, new: str, times: int) -> str:
    text, count = re.subn(pattern, new, text)
    if count != times:
        sys.exit(f"k8s/{file}: {pattern!r} stands there {count} times, not {times}; the release is not written")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--registry", required=True, help="what the names of both images begin with")
    parser.add_argument("--version", required=True, help="the tag of both images")
    parser.add_argument("--module", required=True, type=Path, help="the module that is published")
    parser.add_argument("--module-url", required=True, help="where Envoy fetches it: https://...")
    parser.add_argument("--image-digest", required=True, help="of the filter's image: Istio and Envoy Gateway check it")
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent, help="the manifests (default: k8s)")
    options = parser.parse_args()
    url = urlsplit(options.module_url)
    if url.scheme != "https" or not url.hostname or url.port:
        sys.exit(f"--module-url is {options.module_url}: give an https:// address without a port")
    if options.version == "latest" or not re.fullmatch(r"[\w.-]+", options.version):
        sys.exit(f"--version is {options.version}: give a tag that stays what it is, like 0.2.0")
    image_digest = options.image_digest.removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{64}", image_digest):
        sys.exit(f"--image-digest is {options.image_digest}: give sha256: and 64 hexadecimal digits, as the push prints them")
    if not options.module.is_file():
        sys.exit(f"--module: there is no {options.module}; `make filter` builds one")
    digest = hashlib.sha256(options.module.read_bytes()).hexdigest()
    texts: dict[str, str] = {}

    def change(files: list[str], pattern: str, new: str, times: int = 1) -> None:
        for file in files:
            text = texts.get(file) or (options.folder / file).read_text()
            texts[file] = put(text, file, pattern, new, times)

    change(REMOTE, DIGEST, rf"\g<1>{digest}\g<2>")
    change(MESHES, DIGEST, rf"\g<1>{image_digest}\g<2>")
    change(REMOTE, r"(uri: )https://\S+", rf"\g<1>{options.module_url}")
    change(HOSTS, MODULES_HOST, rf"\g<1>{url.hostname}\g<2>{url.hostname}\g<3>{url.hostname}")
    change(MESHES + ["overlays/standalone/sidecar.yaml"], FILTER_IMAGE, f"{options.registry}/filter:{options.version}")
    change(IMAGES, SERVICE_IMAGE, rf"\g<1>{options.registry}/embedding-service\g<2>{options.version}")
    # Ends here where it cannot be rendered, before anything is written.
    render.files(options.folder)
    for file, text in texts.items():
        (options.folder / file).write_text(text)
    rendered = render.write(options.folder)
    print(f"{options.version}: {len(texts) + len(rendered)} files written, module {digest}")


if __name__ == "__main__":
    main()
