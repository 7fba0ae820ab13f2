// The two processes of the decision index. The process that only reads answers searches, regardless of the other process, even
// during a rebuild and after the end of either process.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IndexProcess } from '../../src/admin/decisions/index-process.ts'
import { createDecisionSearch, type DecisionSearch, type IndexRole } from '../../src/admin/decisions/search.ts'
import { spawnIndexProcess } from '../../src/compose/admin-processes.ts'
import { openSegment } from '../../src/decision-log/segment.ts'
import { systemTimers } from '../../src/lib/time.ts'
import { newFolder } from '../support/folder.ts'
import { indexProcessPid } from '../support/index-process-pid.ts'
import { until } from '../support/until.ts'
import { decisionRecord, FIRST_MS, uuidOf } from './support/decisions.ts'

const organizationId = 'org_AAAAAAAAAAAAAAAA'
let folder: string
let search: DecisionSearch
const running = new Map<IndexRole, IndexProcess[]>()
const events: string[] = []

const write = (from: number, count: number): void => {
  const clock = { unixMs: () => FIRST_MS }
  const segment = openSegment({ directory: join(folder, 'decisions'), slot: 'w00', maxBytes: 1e6, sync: false, clock })
  const numbers = Array.from({ length: count }, (_, index) => from + index)
  segment.append(numbers.map((n) => decisionRecord(n, { organization: organizationId, at: FIRST_MS + n })))
  segment.close()
}

const newest = async (): Promise<readonly string[]> => {
  const { decisions } = await search.ask({ operation: 'search', filter: { organizationId }, after: null, limit: 5 })
  return decisions.map(({ record }) => record.uuid)
}
const untilNewest = async (n: number): Promise<void> => until(async () => (await newest())[0] === uuidOf(n))

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
    after: systemTimers.after,
    onEvent: ({ type }) => events.push(type),
  })
})
afterEach(() => search.close())

const kill = async (role: IndexRole): Promise<void> => {
  const before = running.get(role)?.length ?? 0
  running.get(role)?.at(-1)?.kill()
  await until(() => running.get(role)?.length === before + 1)
}

test('a search during startup waits for the index', async () => {
  expect(await newest()).toEqual([])
  expect(await search.ask({ operation: 'count', filter: { organizationId } })).toEqual({ count: 0, exact: true })
})

test('a search finds indexed decisions, before and after a rebuild', async () => {
  write(0, 20)
  await untilNewest(19)
  const found = await search.ask({ operation: 'find', organizationId, uuid: uuidOf(7) })
  expect(found?.record.uuid).toBe(uuidOf(7))
  await search.ask({ operation: 'rebuild' })
  await untilNewest(19)
  write(20, 5)
  await untilNewest(24)
  await until(async () => (await search.ask({ operation: 'status' })).upToDate)
  expect(await search.ask({ operation: 'status' })).toMatchObject({ decisions: 25, unreadable: 0 })
  expect(events).toEqual([])
})

test('an ended process is restarted, and searches find indexed decisions while the builder is missing', async () => {
  write(0, 20)
  await untilNewest(19)
  await kill('find')
  await untilNewest(19)
  await kill('build')
  expect(await newest()).toHaveLength(5)
  write(20, 5)
  await untilNewest(24)
  expect(events).toEqual(['lost', 'lost'])
})

test.skipIf(process.platform !== 'linux')(
  'searches have a lower priority than the service, and index builds have the lowest',
  async () => {
    await newest()
    /** Fields 19 and 41 of proc(5)'s stat: nice value, and policy (5: SCHED_IDLE). */
    const schedulingOf = (role: IndexRole): number[] => {
      const stat = readFileSync(`/proc/${indexProcessPid(role, folder)}/stat`, 'utf8')
      const fields = stat.split(') ')[1]?.split(' ') ?? []
      return [Number(fields[16]), Number(fields[38])]
    }
    expect(schedulingOf('find')).toEqual([10, 0])
    expect(schedulingOf('build')).toEqual([19, Bun.which('chrt') === null ? 0 : 5])
  },
)
