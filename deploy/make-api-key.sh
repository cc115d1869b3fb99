#!/bin/sh
# Makes an API key with the rights of api-key.json and writes it to bot.env. Run again, it makes another; the old one stays valid
# until it is invalidated (README.md says how).
set -eu
cd "$(dirname "$0")"

answer=$(./es.sh POST /_security/api_key "$(cat api-key.json)") || {
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
echo 'The key is in bot.env. The bot takes it at: docker compose up -d'
