import type { Migration } from '../migrations.ts'

export const webhooks: Migration = {
  number: 6,
  name: 'webhooks',
  statements: ({ integer, bytes, tableEnd }) => [
    // `events` receives every change; `decisions` receives decision requests and returns results.
    `CREATE TABLE webhook_endpoints (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       purpose TEXT NOT NULL CHECK (purpose IN ('events', 'decisions')),
       url TEXT NOT NULL,
       sealed_secret ${bytes} NOT NULL,
       previous_sealed_secret ${bytes},
       previous_until_seconds ${integer},
       created_at_seconds ${integer} NOT NULL,
       removed_at_seconds ${integer},
       UNIQUE (organization_id, id),
       CHECK ((previous_sealed_secret IS NULL) = (previous_until_seconds IS NULL)),
       CHECK (purpose = 'events' OR environment = 'live')
     )${tableEnd}`,
    'CREATE INDEX webhook_endpoints_in_use ON webhook_endpoints (organization_id) WHERE removed_at_seconds IS NULL',
    `CREATE UNIQUE INDEX webhook_endpoints_decider ON webhook_endpoints (organization_id)
       WHERE purpose = 'decisions' AND removed_at_seconds IS NULL`,

    `CREATE TABLE webhook_messages (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       endpoint_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       sequence ${integer} NOT NULL,
       type TEXT NOT NULL,
       snapshot TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
       attempts ${integer} NOT NULL,
       next_attempt_at_seconds ${integer} NOT NULL,
       claimed_until_seconds ${integer} NOT NULL,
       last_status ${integer},
       last_failure TEXT,
       created_at_seconds ${integer} NOT NULL,
       settled_at_seconds ${integer},
       FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoints (organization_id, id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
       CHECK ((state = 'waiting') = (settled_at_seconds IS NULL))
     )${tableEnd}`,
    `CREATE INDEX webhook_messages_waiting ON webhook_messages (endpoint_id, next_attempt_at_seconds)
       WHERE state = 'waiting'`,
    'CREATE INDEX webhook_messages_by_organization ON webhook_messages (organization_id, created_at_seconds)',
    'CREATE INDEX webhook_messages_settled ON webhook_messages (settled_at_seconds) WHERE settled_at_seconds IS NOT NULL',

    `CREATE TABLE provider_results (
       organization_id TEXT NOT NULL,
       endpoint_id TEXT NOT NULL,
       message_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       received_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (endpoint_id, message_id),
       FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoints (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX provider_results_by_age ON provider_results (received_at_seconds)',
  ],
}
