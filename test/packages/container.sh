#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the images of packaging/container with buildah, which needs no daemon. Runs manager, node
# and client as the Dockerfile defines: as user dxp, without capabilities.
#
#   test/packages/container.sh [FOLDER]      folder of the packages; default build/deb
#
# debootstrap makes the base image from this machine's source of packages, so no registry is needed.
# Images and containers are in a temporary folder. Needs root. Skipped, with status 77, without
# buildah, debootstrap, root or packages, or if the source does not answer.
set -euo pipefail

cd "$(dirname "$0")/../.."
packages=$(cd "${1:-${DXP_DEB:-build/deb}}" 2>/dev/null && pwd) || packages=/nonexistent
readonly packages

# shellcheck source=test/packages/lib_debian.sh
. test/packages/lib_debian.sh

[ "$(id -u)" -eq 0 ] || skip 'needs root'
command -v buildah >/dev/null || skip 'no buildah; apt install buildah'
command -v debootstrap >/dev/null || skip 'no debootstrap; tools/setup deb'
compgen -G "$packages/dxp_*.deb" >/dev/null || skip "no packages in $packages; run make deb"
source_find

scratch=$(mktemp -d)
namespace=dxp-container-$$
readonly scratch namespace
export BUILDAH_ISOLATION=chroot
build() { buildah --root "$scratch/storage" --runroot "$scratch/runroot" "$@"; }
clean_up() {
	local status=$?
	! ip netns pids "$namespace" >/dev/null 2>&1 ||
		ip netns pids "$namespace" | xargs -r kill 2>/dev/null || true
	wait
	ip netns del "$namespace" 2>/dev/null || true
	build rm --all >/dev/null 2>&1 || true
	rm -rf --one-file-system "$scratch"
	exit $status
}
trap clean_up EXIT

say "== a base image of a bare Debian $release"
debootstrap --variant=minbase "$release" "$scratch/debian" "$url" >"$scratch/log" 2>&1 ||
	skip "debootstrap failed: $(tail -n 1 "$scratch/log")"
apt_settings_copy "$scratch/debian"
base=$(build from scratch)
build copy --quiet "$base" "$scratch/debian" / >/dev/null
build commit --quiet "$base" localhost/dxp-base >/dev/null
build rm "$base" >/dev/null
rm -rf --one-file-system "$scratch/debian"

# Only what the images need, as by a .dockerignore.
mkdir "$scratch/context"
cp "$packages"/*.deb "$scratch/context"
rm -f "$scratch"/context/*-dbgsym_*.deb
for target in manager node client; do
	say "# buildah build --target $target -t dxp-$target ."
	build build --quiet --file packaging/container/Dockerfile --target $target \
		--build-arg BASE=localhost/dxp-base --tag "localhost/dxp-$target" \
		"$scratch/context" >"$scratch/log" 2>&1 || die "$(tail -n 20 "$scratch/log")"
done

ip netns add "$namespace"
ip -n "$namespace" link set lo up
install -d -o 790 -g 790 "$scratch/fabric"
# container TARGET COMMAND...: runs the command, by default the image's own, in a container.
container() {
	local target=$1 name words
	shift
	name=$(build from --quiet "localhost/dxp-$target")
	if [ $# -eq 0 ]; then
		words=$(build inspect --format "$(printf '{{range .OCIv1.Config.%s}}{{.}} {{end}}' \
			Entrypoint Cmd)" "$name")
		read -r -a words <<<"$words"
		set -- "${words[@]}"
	fi
	ip netns exec "$namespace" buildah --root "$scratch/storage" --runroot "$scratch/runroot" \
		run --cap-drop all --volume "$scratch/fabric:/var/lib/dxp" "$name" -- "$@"
}

# until_says TEXT FILE: waits until the file contains the text.
until_says() {
	local i
	for ((i = 0; i < 600; i++)); do
		! grep -qsF -- "$1" "$2" || return 0
		! grep -qsF 'exited with status' "$2" || break
		sleep 0.1
	done
	die "'$1' is not in: $(cat "$2")"
}

say '== manager, node and client'
container manager >"$scratch/manager.log" 2>&1 &
until_says 'listening on 127.0.0.1:4795' "$scratch/manager.log"
[ "$(stat -c %u:%a "$scratch/fabric/fabric.key")" = 790:600 ] || die 'the key is not of user dxp'
container node >"$scratch/node.log" 2>&1 &
until_says 'xpu1: node' "$scratch/node.log"
cat "$scratch/node.log"
container client >"$scratch/out" 2>&1 || die "$(cat "$scratch/out")"
grep ' xpu1 .* alive ' "$scratch/out" || die "$(cat "$scratch/out")"
container client dxp run -- clinfo -l >"$scratch/out" 2>&1 || die "$(cat "$scratch/out")"
grep 'Direct xPU' "$scratch/out" || die "$(cat "$scratch/out")"
container client id -un >"$scratch/out" 2>&1 && grep -qx dxp "$scratch/out" ||
	die "not user dxp: $(cat "$scratch/out")"
say passed
