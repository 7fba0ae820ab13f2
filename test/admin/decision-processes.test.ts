// The two processes of the decision index as the service starts them: a search is answered by one that only reads, whatever
// the other one is doing, also across a rebuild and the end of either.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IndexProcess } from '../../src/admin/decisions/index-process.ts'
import { createDecisionSearch, type DecisionSearch, type IndexRole } from '../../src/admin/decisions/search.ts'
import { spawnIndexProcess } from '../../src/compose/admin-processes.ts'
import { openSegment } from '../../src/decision-log/segment.ts'
import { newFolder } from '../support/folder.ts'
import { indexProcessPid } from '../support/index-process-pid.ts'
import { until } from '../support/until.ts'
import { decisionRecord, FIRST_MS, uuidOf } from './support/decisions.ts'

const ALPHA = 'org_AAAAAAAAAAAAAAAA'
let folder: string
let search: DecisionSearch
const running = new Map<IndexRole, IndexProcess[]>()
const events: string[] = []

const write = (from: number, count: number): void => {
  const writer = openSegment({
    directory: join(folder, 'decisions'),
    slot: 'w00',
    maxBytes: 1e6,
    sync: false,
    clock: { unixMs: () => FIRST_MS },
  })
  writer.append(
    Array.from({ length: count }, (_, index) =>
      decisionRecord(from + index, { organization: ALPHA, at: FIRST_MS + from + index }),
    ),
  )
  writer.close()
}

const newest = async (): Promise<readonly string[]> => {
  const filter = { organizationId: ALPHA }
  const { decisions } = await search.ask({ operation: 'search', filter, after: null, limit: 5 })
  return decisions.map(({ record }) => record.uuid)
}
const found = async (uuid: string): Promise<void> => until(async () => (await newest())[0] === uuid)

beforeEach(() => {
  folder = newFolder()
  mkdirSync(join(folder, 'decisions'))
  running.clear()
  events.length = 0
  const spawn = spawnIndexProcess({ decisions: join(folder, 'decisions'), decisionIndex: join(folder, 'index.db') })
  search = createDecisionSearch({
    spawn: (role, listener) => {
      const started = spawn(role, listener)
      running.set(role, [...(running.get(role) ?? []), started])
      return started
    },
    after: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs)
      return () => clearTimeout(timer)
    },
    onEvent: ({ type }) => events.push(type),
  })
})
afterEach(() => {
  search.close()
})

const kill = async (role: IndexRole): Promise<void> => {
  const before = running.get(role)?.length ?? 0
  running.get(role)?.at(-1)?.kill()
  await until(() => running.get(role)?.length === before + 1)
}

test('a search right after the start waits for the index and is no error', async () => {
  expect(await newest()).toEqual([])
  expect(await search.ask({ operation: 'count', filter: { organizationId: ALPHA } })).toEqual({ count: 0, exact: true })
})

test('finds what the builder takes in, and what it takes in after it was told to begin anew', async () => {
  write(0, 20)
  await found(uuidOf(19))
  expect((await search.ask({ operation: 'find', organizationId: ALPHA, uuid: uuidOf(7) }))?.record.uuid).toBe(uuidOf(7))
  await search.ask({ operation: 'rebuild' })
  await found(uuidOf(19))
  write(20, 5)
  await found(uuidOf(24))
  await until(async () => (await search.ask({ operation: 'status' })).upToDate)
  expect(await search.ask({ operation: 'status' })).toMatchObject({ decisions: 25, unreadable: 0 })
  expect(events).toEqual([])
})

test('a finder that ends is started again; while the builder is gone what was built is found', async () => {
  write(0, 20)
  await found(uuidOf(19))
  await kill('find')
  await found(uuidOf(19))
  await kill('build')
  expect(await newest()).toHaveLength(5)
  write(20, 5)
  await found(uuidOf(24))
  expect(events).toEqual(['lost', 'lost'])
})

test.skipIf(process.platform !== 'linux')('searching goes before building, and both behind the service', async () => {
  await newest()
  /** Fields 19 and 41 of proc(5)'s stat: nice value, and policy (5: SCHED_IDLE). */
  const schedulingOf = (role: IndexRole): number[] => {
    const pid = indexProcessPid(role, folder)
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return [Number(fields[16]), Number(fields[38])]
  }
  expect(schedulingOf('find')).toEqual([10, 0])
  expect(schedulingOf('build')).toEqual([19, Bun.which('chrt') === null ? 0 : 5])
})
