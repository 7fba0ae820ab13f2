// Revokes the API keys in the copied database of a trial. The trial signs with the deployment's attester keys and is
// reachable by other programs, so only the keys that it creates itself are valid.
import { Database as SqliteFile } from 'bun:sqlite'

export const revokeKeys = (path: string): void => {
  using file = new SqliteFile(path)
  file.run('UPDATE api_keys SET revoked_at_seconds = created_at_seconds WHERE revoked_at_seconds IS NULL')
}
