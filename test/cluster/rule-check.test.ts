// A process that counted as stopped ends on its return if the deployment's rules have changed meanwhile.
import { beforeEach, expect, test } from 'bun:test'
import { createRuleCheck } from '../../src/cluster/rule-check.ts'
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'

const temporary = storeOfTest(openTemporaryStore)
let log: string[]
let whenWaiting: () => Promise<void>

beforeEach(() => {
  log = []
  whenWaiting = async () => undefined
})

const check = () =>
  createRuleCheck({
    store: temporary.store,
    modules: { running: ['backups'], known: ['backups', 'screening'] },
    wait: () => whenWaiting(),
    log: { error: (_, fields) => void log.push(String(fields?.['reason'])) },
    endProcess: () => void log.push('end'),
  })

const migrateFurther = (worksWith: number): Promise<void> => {
  const number = MIGRATIONS.length + 1
  return migrate(temporary.store.database, 0, [
    ...MIGRATIONS,
    { number, name: 'next', worksWith, statements: () => [] },
  ])
}

test('a process continues after a migration whose rules it follows, and ends after any other', async () => {
  await migrateFurther(MIGRATIONS.length)
  await check().endUnlessSameRules()
  expect(log).toEqual([])
  await temporary.store.database.execute('DELETE FROM schema_readers WHERE number > ?', [MIGRATIONS.length])
  await check().endUnlessSameRules()
  expect(log).toEqual([expect.stringContaining('newer than this program'), 'end'])
})

test('a process does not start beside a newer version that migrates at the same time', async () => {
  await migrateFurther(MIGRATIONS.length + 1)
  await expect(check().requireSameRules()).rejects.toThrow('newer than this program')
})

test('a process ends if a live process runs other modules', async () => {
  const beat = (beats: number): Promise<void> =>
    temporary.store.liveProcesses.beat({ id: 'other', name: 'node-2/0', beat: beats, clockMs: 0, modules: [] })
  await beat(1)
  whenWaiting = () => beat(2)
  await check().endUnlessSameRules()
  expect(log).toEqual([expect.stringContaining('node-2/0'), 'end'])
})

test('the check rejects if the store is unavailable, so that it is repeated', async () => {
  await temporary.store.close()
  await expect(check().endUnlessSameRules()).rejects.toThrow()
  expect(log).toEqual([])
})
