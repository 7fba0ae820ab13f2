// Revokes the API keys in the copied database of a trial. The trial signs with the deployment's attester keys, and other
// programs of the machine can reach it, so only the keys that it creates itself are valid: a key of the backup may have
// been revoked since.
import { Database as SqliteFile } from 'bun:sqlite'

export const revokeKeys = (path: string): void => {
  using file = new SqliteFile(path)
  file.run('UPDATE api_keys SET revoked_at_seconds = created_at_seconds WHERE revoked_at_seconds IS NULL')
}
