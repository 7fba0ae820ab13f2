// A deployment in a temporary folder, with functions that run commands on it in the current thread.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCountersign } from '../../src/cli/countersign.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { makeKeyFile } from '../../src/setup/key-file.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createManualClock, placeMigrated } from '../store/temporary-store.ts'
import { recordOutput } from './recorded-output.ts'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export const openCommandWorld = async () => {
  const root = mkdtempSync(join(tmpdir(), 'countersign-commands-'))
  const folder = dataFolderAt(root)
  const clock = createManualClock()
  const open = (onlyExisting = true): Promise<Store> =>
    openStore({ path: join(root, 'countersign.db'), clock, onlyExisting })
  await placeMigrated(join(root, 'countersign.db'))
  await (await open(false)).close()
  makeDataFolder(folder)
  makeKeyFile(folder.passphrase)
  const environment: Record<string, string> = { COUNTERSIGN_DATA_DIR: root }

  const run = async (...words: readonly string[]): Promise<CommandResult> => {
    const { output, printed } = recordOutput()
    // Items are listed in the order of their creation times.
    clock.advance(1)
    const code = await runCountersign(words, { output, environment, clock, user: 'anna' })
    return { code, ...printed }
  }

  return {
    root,
    clock,
    environment,
    run,
    /** Runs a command with --json; returns the parsed output. */
    json: async (...words: readonly string[]) => JSON.parse((await run(...words, '--json')).stdout),
    /** Work on the store between commands. */
    withStore: async <Result>(work: (store: Store) => Promise<Result>): Promise<Result> => {
      const store = await open()
      try {
        return await work(store)
      } finally {
        await store.close()
      }
    },
    file: (name: string, content: string | Uint8Array): string => {
      const path = join(root, name)
      writeFileSync(path, content)
      return path
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export type CommandWorld = Awaited<ReturnType<typeof openCommandWorld>>
