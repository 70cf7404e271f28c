# To be sourced in the project's root, with a folder in `work`: installs the Restate server into the target folder
# (226 MB), and sets what it is started with: free ports on loopback, four partitions. Needs Linux on x86-64, and node
# 20 with npm.
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
RESTATE_VERSION=1.7.12
home="$target/peers/restate-$RESTATE_VERSION"
RESTATE_SERVER="$home/node_modules/@restatedev/restate-server-linux-x64/bin/restate-server"
if [ ! -x "$RESTATE_SERVER" ]; then
    mkdir -p "$home"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$home" \
        "@restatedev/restate-server@$RESTATE_VERSION"
fi
read -r ingress admin fabric service < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(4)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])')

export RESTATE_SERVER RESTATE_BASE_DIR="$work/restate" RESTATE_LISTEN_MODE=tcp RESTATE_BIND_IP=127.0.0.1
export RESTATE_BIND_PORT="$fabric" RESTATE_INGRESS__BIND_PORT="$ingress" RESTATE_ADMIN__BIND_PORT="$admin"
# The server leaves temporary folders when it is killed.
export TMPDIR="$work"
export RESTATE_DISABLE_TELEMETRY=true DO_NOT_TRACK=1 RESTATE_DEFAULT_NUM_PARTITIONS=4
export RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE=256MiB
export RESTATE_URL="http://127.0.0.1:$ingress" RESTATE_ADMIN_URL="http://127.0.0.1:$admin" SERVICE_PORT="$service"
