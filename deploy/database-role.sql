-- The service's own role and database, made by an administrator: once, before the first start.
--   psql -v ON_ERROR_STOP=1 -v password="$(cat postgres-password)" -f deploy/database-role.sql postgres://postgres@HOST/postgres
-- The role owns the tables that it makes there, since each new version changes them, and nothing else: neither the
-- database nor its schema; it makes no roles and no databases, and others may not connect.
CREATE ROLE countersign LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE countersign;
REVOKE ALL ON DATABASE countersign FROM PUBLIC;
GRANT CONNECT ON DATABASE countersign TO countersign;
\connect countersign
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO countersign;
