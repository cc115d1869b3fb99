#!/usr/bin/env bash
# What must be there before the first node starts: an authority, a certificate of the nodes, and a place for snapshots.
# Runs once, as root, in the official image; run again, it makes only what is missing.
set -euo pipefail

certutil=/usr/share/elasticsearch/bin/elasticsearch-certutil
umask 077

# The key of the authority is in a volume of its own, which no other service mounts.
if [[ ! -f /authority/ca/ca.key ]]; then
  rm -f /authority/ca.zip  # of a run that was interrupted
  "$certutil" ca --silent --pem --days 3650 --out /authority/ca.zip
  unzip -q -o /authority/ca.zip -d /authority
  rm /authority/ca.zip
fi

if [[ ! -f /certificates/node/node.crt ]]; then
  {
    printf 'instances:\n  - name: node\n    ip: [127.0.0.1]\n    dns:\n      - localhost\n'
    for name in $NODE_NAMES; do
      printf '      - %s\n' "$name"
    done
  } > /tmp/instances.yml
  rm -f /certificates/node.zip
  "$certutil" cert --silent --pem --days 1095 --in /tmp/instances.yml --out /certificates/node.zip \
    --ca-cert /authority/ca/ca.crt --ca-key /authority/ca/ca.key
  unzip -q -o /certificates/node.zip -d /certificates
  rm /certificates/node.zip
fi

# Elasticsearch runs as user 1000 of group 0; the bot needs the authority's certificate alone, which is no secret.
cp /authority/ca/ca.crt /certificates/ca.crt
chown -R root:0 /certificates
find /certificates -type d -exec chmod 0750 {} +
find /certificates -type f -exec chmod 0640 {} +
cp /authority/ca/ca.crt /trust/ca.crt
chmod 0755 /trust
chmod 0644 /trust/ca.crt
chown 1000:0 /snapshots
chmod 0770 /snapshots
