#!/usr/bin/env bash
# The steps of the Dockerfile without Docker, as root: in a root folder of its own, which is read-only but for /data, by
# a user without privileges.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(realpath ../../../..)
dockerfile=$repository/packages/token-service/Dockerfile
instruction() { sed -n "s/^$1 //p" "$dockerfile"; }

if [ -z "${ROOT_FOLDER-}" ]; then
  ROOT_FOLDER=$(mktemp -d)
  export ROOT_FOLDER
  trap 'rm -rf "$ROOT_FOLDER"' EXIT
  # The mounts are this child's own, and its processes end with it.
  unshare --mount --pid --fork --kill-child bash "$PWD/container.sh"
  exit
fi

# What `node:24-slim` contains: Debian's programs, Node, npm and the user `node`.
mount --make-rprivate /
mount --bind "$ROOT_FOLDER" "$ROOT_FOLDER"
cd "$ROOT_FOLDER"
chmod 755 .
mkdir -p usr local/bin local/lib/node_modules etc root dev proc
ln -s usr/bin usr/lib usr/lib64 usr/sbin .
for name in resolv.conf hosts nsswitch.conf ssl ld.so.cache alternatives; do cp -aL "/etc/$name" etc/ 2>/dev/null || true; done
printf 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nnode:x:1000:\n' >etc/group
cp "$(node -p process.execPath)" local/bin/node
cp -r "$(realpath "$(command -v npm)" | xargs dirname)/.." local/lib/node_modules/npm
ln -s ../lib/node_modules/npm/bin/npm-cli.js local/bin/npm
mount --bind /usr usr
mount --bind local usr/local
mount --rbind /dev dev
mount -t proc proc proc
cp "$repository/tools/.packed/token-service.tgz" token-service.tgz

# A command in the root, with the environment of the image.
read -ra environment < <(instruction ENV)
npm_settings=("NPM_CONFIG_REGISTRY=$(npm config get registry)" "NPM_CONFIG_CAFILE=$(npm config get cafile | grep / || echo /etc/ssl/certs/ca-certificates.crt)")
as_root=(chroot . env -i PATH=/usr/local/bin:/usr/bin HOME=/root "${npm_settings[@]}")
user=$(instruction USER)
folder=$(instruction WORKDIR)
port=$(node -e 'const s = net.createServer().listen(0, () => { console.log(s.address().port); s.close() })')
as_user=(chroot "--userspec=$user:$user" . env -i -C "$folder" PATH=/usr/local/bin:/usr/bin "${environment[@]}" "TOKENWELL_PORT=$port")

"${as_root[@]}" sh -c "$(instruction RUN | sed 's#@tokenwell/token-service@$VERSION#/token-service.tgz#')" >/dev/null
mount --bind "./$folder" "./$folder"
for each in . usr usr/local; do mount -o remount,bind,ro "$ROOT_FOLDER/$each"; done
if "${as_user[@]}" touch /usr/local/x /etc/x 2>/dev/null; then echo 'the root can be written' >&2; exit 1; fi

list() { node -e 'console.log(JSON.parse(fs.readFileSync(0)).join("\n"))'; }
mapfile -t entrypoint < <(instruction ENTRYPOINT | list)
mapfile -t healthcheck < <(instruction 'HEALTHCHECK CMD' | list)
log=.$folder/service.log
"${as_user[@]}" "${entrypoint[@]}" >"$log" 2>&1 &
for attempt in {1..300}; do
  ! "${as_user[@]}" "${healthcheck[@]}" || break
  [ "$attempt" -lt 300 ] && kill -0 $! || { cat "$log" >&2; exit 1; }
  sleep 0.1
done
"${as_user[@]}" "${entrypoint[@]}" backup "$folder/backup.db"
[ "$(stat -c '%u %a' ".$folder/backup.db")" = '1000 600' ]
kill $!
wait $! || { cat "$log" >&2; exit 1; }
