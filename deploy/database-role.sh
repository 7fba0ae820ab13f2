#!/bin/sh
# For the image of PostgreSQL: runs on the first start of an empty volume, as its administrator.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/postgres-password)" \
  --username "$POSTGRES_USER" --dbname postgres --file /etc/countersign/database-role.sql
