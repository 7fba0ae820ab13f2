// A deployment in a temporary folder that commands are run on, in this thread, as the program runs them; and what they print
// with its ids, times and secrets named instead.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCountersign } from '../../src/cli/countersign.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { makeKeyFile } from '../../src/setup/key-file.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createManualClock, placeMigrated } from '../store/temporary-store.ts'
import { recordOutput } from './recorded-output.ts'

/** What differs from run to run, and stands for itself: `<policy 1>` is the first policy's id. */
const KINDS: ReadonlyArray<{ readonly name: string | null; readonly pattern: RegExp }> = [
  { name: 'key', pattern: /cs[aim]_(?:live|test)_[0-9A-Za-z]{61}/g },
  { name: 'secret', pattern: /whsec_[0-9A-Za-z+/=]+/g },
  { name: 'link', pattern: /http:\/\/127\.0\.0\.1:8082\/\S+?(?=["\s])/g },
  {
    name: null,
    pattern:
      /(?:org|policy|revision|project|binding|attester|endpoint|message|list|webhook|user|whe|msg)_[0-9A-Za-z]{10,}/g,
  },
  { name: 'uuid', pattern: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g },
  { name: 'hash', pattern: /\bx-[0-9a-f]{32,62}\b/g },
  { name: 'time', pattern: /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g },
  { name: 'seconds', pattern: /(?<=Seconds":)1\d{9}\b/g },
  { name: 'age', pattern: /(?<=ageSeconds":)\d+\b/g },
]

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
  const names = new Map<string, string>([[root, '<folder>']])
  const counts = new Map<string, number>()
  const environment: Record<string, string> = { COUNTERSIGN_DATA_DIR: root }

  /** From now on `text` is printed as `<name>`. */
  const call = (text: string, name: string): void => void names.set(text, `<${name}>`)

  const nameOf = (text: string, kind: string): string => {
    if (kind === 'time' || kind === 'seconds' || kind === 'age') return `<${kind}>`
    const known = names.get(text)
    if (known !== undefined) return known
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const name = `<${kind} ${count}>`
    names.set(text, name)
    return name
  }

  const named = (text: string): string => {
    let result = text
    for (const { name, pattern } of KINDS)
      result = result.replaceAll(pattern, (match) => nameOf(match, name ?? match.slice(0, match.indexOf('_'))))
    for (const [value, name] of names) result = result.replaceAll(value, name)
    return result
  }

  const run = async (...words: readonly string[]): Promise<CommandResult> => {
    const { output, printed } = recordOutput()
    // What is made one after the other is listed in that order.
    clock.advance(1)
    const code = await runCountersign(words, { output, environment, clock, user: 'anna' })
    return { code, ...printed }
  }

  return {
    root,
    clock,
    environment,
    call,
    named,
    run,
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
