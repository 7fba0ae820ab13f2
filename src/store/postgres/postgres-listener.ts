// Listens for commits of other processes to wake the change feed. The next poll makes up for lost notifications.
// https://www.postgresql.org/docs/current/sql-listen.html
import { SQL } from 'bun'
import type { ChangeWatch } from '../database.ts'
import type { PostgresTarget } from '../store-address.ts'
import { driverOptions } from './postgres-connection.ts'
import { CHANGES_CHANNEL } from './postgres-words.ts'

const RETRY_MS = 500

/** The driver restores a lost subscription itself; only the first needs retries. */
export const watchPostgresChanges = (target: PostgresTarget, connectMs: number, wake: () => void): ChangeWatch => {
  let listening = false
  let stopped = false
  let retry: ReturnType<typeof setTimeout> | undefined
  const client = new SQL({
    ...driverOptions(target, connectMs),
    onclose: () => {
      listening = false
    },
  } as Bun.SQL.Options)

  const listen = (): void => {
    client
      .listen(CHANGES_CHANNEL, wake, () => {
        listening = true
        // Changes may have been committed before the subscription.
        wake()
      })
      .catch(() => {
        // Meanwhile, the feed polls faster and reports read failures.
        if (stopped) return
        retry = setTimeout(listen, RETRY_MS)
        retry.unref()
      })
  }
  listen()

  return {
    listening: () => listening,
    stop: async () => {
      stopped = true
      listening = false
      clearTimeout(retry)
      await client.close({ timeout: 0 })
    },
  }
}
