#!/bin/sh
# For the PostgreSQL image: runs as administrator at the first start with an empty volume.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/postgres-password)" \
  --username "$POSTGRES_USER" --dbname postgres --file /etc/countersign/database-role.sql
