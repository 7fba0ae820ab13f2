// Learns of other processes' commits by LISTEN, only to wake the reader of the changes: notifications lost while the
// connection is down are made up by the next poll. Source: https://www.postgresql.org/docs/current/sql-listen.html.
import { SQL } from 'bun'
import type { ChangeWatch } from '../database.ts'
import type { PostgresTarget } from '../store-address.ts'
import { driverOptions } from './postgres-connection.ts'
import { CHANGES_CHANNEL } from './postgres-words.ts'

const RETRY_MS = 500

/** After a loss the driver subscribes again by itself; only the first subscription is ours to retry. */
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
        // Changes may have been made before the subscription started.
        wake()
      })
      .catch(() => {
        // Nothing is lost: the feed polls faster while nobody listens, and reports when it can't read.
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
