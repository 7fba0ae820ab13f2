// Links that open a session in use only with a proof of one of its wallets.
import type { Migration } from '../migrations.ts'

export const linkProof: Migration = {
  number: 29,
  name: 'link-proof',
  statements: ({ integer }) => [
    `ALTER TABLE session_tokens ADD COLUMN requires_proof ${integer} NOT NULL DEFAULT 1 CHECK (requires_proof IN (0, 1))`,
    // No registration with a wallet has led to these sessions, and there is no wallet to prove.
    `UPDATE session_tokens SET requires_proof = 0 WHERE EXISTS (SELECT 1 FROM sessions
       WHERE sessions.organization_id = session_tokens.organization_id AND sessions.id = session_tokens.session_id
         AND sessions.locked_address IS NULL AND NOT EXISTS (SELECT 1 FROM session_wallets
           WHERE session_wallets.organization_id = sessions.organization_id AND session_wallets.session_id = sessions.id))`,
  ],
}
