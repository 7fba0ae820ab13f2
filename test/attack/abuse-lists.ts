// Attacks on where lists of addresses come from. Each is tried on a service of its own, because that is killed.
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment } from '../service/run-to-end.ts'
import { runCommand, startAlone } from '../service/start-service.ts'
import { COMMAND_WORDS } from '../support/run-program.ts'
import { until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'

const LIMIT = { limitMs: 60_000 }
const ROOT = join(import.meta.dir, '..', '..')
const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** A list of people, each with a wallet. */
const peopleWith = (first: number, count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      id: `p${first + index}`,
      kind: 'person',
      name: `Ivan Primerov ${(first + index).toString(36)}`,
      wallets: [wallet(first + index)],
    })),
  )

const diesBetween: Abuse = {
  row: 53,
  name: 'killed-before-wallets-are-shared',
  mustHappen: 'a version of a sanctions list has its wallets shared after kill -9',
  run: async (_, faults) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-attack-lists-'))
    const dataDirectory = join(folder, 'data')
    const start = () => startAlone({ dataDirectory })
    let service = await start()
    try {
      const [before, after] = [join(folder, 'before.json'), join(folder, 'after.json')]
      writeFileSync(before, peopleWith(1, 4_000))
      writeFileSync(after, peopleWith(2_001, 4_000))
      const shared = async (): Promise<string> =>
        (await runCommand(dataDirectory, 'lists', 'export', 'attacked', '--shared')).stdout
      const filled = await runCommand(dataDirectory, 'screening', 'import', 'attacked', before, '--format', 'json')
      faults.holds(`the first import: ${filled.stderr}`, filled.code === 0)
      await until(async () => (await shared()).includes(wallet(1)), { ...LIMIT, what: 'the first wallets' })

      const store = new Database(join(dataDirectory, 'countersign.db'), { readonly: true })
      const version = () => store.query('SELECT version_id FROM screening_lists').values()[0]?.[0]
      const first = version()
      const child = Bun.spawn([...COMMAND_WORDS, 'screening', 'import', 'attacked', after], {
        cwd: ROOT,
        env: { ...cleanEnvironment(), COUNTERSIGN_DATA_DIR: dataDirectory },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await until(() => version() !== first, { ...LIMIT, what: 'the second version' })
      child.kill('SIGKILL')
      service.process.kill('SIGKILL')
      await Promise.all([child.exited, service.process.exited])
      store.close()
      service = await start()
      await until(async () => (await shared()).includes(wallet(6_000)), LIMIT).catch(() => {
        faults.add('the wallets of the second version are not shared')
      })
      faults.holds('a wallet that is listed no longer is still there', !(await shared()).includes(wallet(1)))
    } finally {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

export const LIST_ABUSES: readonly Abuse[] = [diesBetween]
