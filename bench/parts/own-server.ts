// Starts one of the bench's own servers and reads its port from its first message.
import { join } from 'node:path'
import type { Processes } from '../processes.ts'

export interface OwnServer {
  readonly pid: number
  readonly port: number
  /** The address that its signatures recover to, if it signs. */
  readonly attester: string | null
}

const START_LIMIT_MS = 20_000

/** @throws Error if the server ends or sends no message in time */
export const startOwnServer = (
  processes: Processes,
  name: 'echo' | 'naive',
  ...options: readonly string[]
): Promise<OwnServer> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the ${name} server did not start`)), START_LIMIT_MS)
    const managed = processes.start({
      name: `${name} server`,
      command: [process.execPath, join(import.meta.dir, '..', 'servers', `${name}.server.ts`), ...options],
      onMessage: (message) => {
        clearTimeout(timer)
        const { port, attester } = message as { readonly port: number; readonly attester?: string }
        resolve({ pid: managed.pid, port, attester: attester ?? null })
      },
      onExit: (exitCode) => {
        clearTimeout(timer)
        reject(new Error(`the ${name} server ended (exit code ${exitCode})`))
      },
    })
  })
