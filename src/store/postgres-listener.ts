// Hears of commits of other processes by LISTEN. It only wakes whoever reads the changes: what is lost while the
// connection is away is read at the next poll. Source: https://www.postgresql.org/docs/current/sql-listen.html.
import { SQL } from 'bun'
import type { ChangeWatch } from './database.ts'
import { driverOptions } from './postgres-connection.ts'
import { CHANGES_CHANNEL } from './postgres-words.ts'
import type { PostgresTarget } from './store-address.ts'

const RETRY_MS = 500

/** The driver subscribes again by itself after a loss; only the first time is up to us. */
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
        // Something may have happened before it was heard.
        wake()
      })
      .catch(() => {
        // Not lost: the feed polls faster while nobody listens, and says when it can't read.
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
