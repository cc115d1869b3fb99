#!/bin/sh
# Makes an API key with the rights of api-key.json, by the running cluster, and writes it to bot.env. Run once; run again, it
# makes another key (the old one stays valid until it is invalidated: README.md says how).
set -eu
cd "$(dirname "$0")"

# The container knows the password, and curl hides it from lists of processes.
# shellcheck disable=SC2016
answer=$(docker compose exec -T elasticsearch sh -c '
  curl --silent --show-error --fail-with-body --max-time 30 --cacert config/certs/ca.crt --user "elastic:$ELASTIC_PASSWORD" \
    --header "Content-Type: application/json" --data-binary @- https://localhost:9200/_security/api_key
' < api-key.json) || {
  printf 'The key could not be made. Elasticsearch said: %s\n' "${answer:-nothing}" >&2
  exit 1
}
key=$(printf '%s' "$answer" | sed -n 's/.*"encoded" *: *"\([A-Za-z0-9+/=_-]*\)".*/\1/p')
[ -n "$key" ] || {
  echo 'The key could not be made: Elasticsearch sent none.' >&2
  exit 1
}

umask 077
touch bot.env
{
  grep -v '^ELASTICSEARCH_API_KEY=' bot.env || true
  printf 'ELASTICSEARCH_API_KEY=%s\n' "$key"
} > bot.env.new
mv bot.env.new bot.env
echo 'The key is in bot.env. Let the bot take it: docker compose up -d'
