#!/bin/sh
# One request to the cluster, as its superuser: ./es.sh METHOD PATH [BODY]
# A node that is starting, or a cluster that is not ready, is waited for: two minutes.
set -eu
cd "$(dirname "$0")"
[ $# -ge 2 ] || {
  echo "usage: $0 METHOD PATH [BODY]" >&2
  exit 2
}
method=$1
path=$2
shift 2
[ $# -eq 0 ] || set -- --header 'Content-Type: application/json' --data "$1"

# The container knows the password, and curl hides it from lists of processes.
# shellcheck disable=SC2016
exec docker compose exec -T elasticsearch sh -c '
  exec curl --silent --show-error --fail-with-body --max-time 600 --write-out "\n" \
    --retry 24 --retry-delay 5 --retry-connrefused \
    --cacert config/certs/ca.crt --user "elastic:$ELASTIC_PASSWORD" "$@"
' curl --request "$method" "$@" "https://localhost:9200$path" < /dev/null
