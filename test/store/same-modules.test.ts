// All processes of a deployment run the same modules, because each can become the leader and run all checks.
import { expect, test } from 'bun:test'
import { requireSameModules } from '../../src/store/live-processes.ts'
import { storeOfTest } from './store-of-test.ts'
import { openTemporaryStore } from './temporary-store.ts'

const temporary = storeOfTest(openTemporaryStore)

const beat = (name: string, beats: number, modules: readonly string[]): Promise<void> =>
  temporary.store.liveProcesses.beat({ id: name, name, beat: beats, clockMs: 0, modules })

/** @param duringWait called at each wait @returns the number of waits */
const start = async (
  modules: readonly string[],
  duringWait: (waits: number) => Promise<void> = async () => undefined,
) => {
  let waits = 0
  const known = ['backups', 'screening', 'tracing', 'policy-lab']
  await requireSameModules(
    temporary.store.liveProcesses,
    { running: modules, known },
    { wait: () => duringWait(++waits) },
  )
  return waits
}

test('a process does not start beside a live one with other modules, and the message contains the setting of the live process', async () => {
  await beat('node-1/0', 1, ['backups', 'screening'])
  await beat('node-2/0', 1, ['backups', 'tracing'])
  const starting = start(['backups', 'tracing'], (waits) => beat('node-1/0', 1 + waits, ['backups', 'screening']))
  await expect(starting).rejects.toThrow('node-1/0 (--without tracing,policy-lab). Use the same')
})

test('a process that registers during the wait counts as live', async () => {
  await beat('ended/0', 1, ['screening'])
  await expect(start([], () => beat('node-1/0', 1, ['screening']))).rejects.toThrow(
    'node-1/0 (--without backups,tracing,policy-lab)',
  )
})

test('a module that this version lacks is named', async () => {
  const newer = ['backups', 'newer', 'policy-lab', 'screening', 'tracing']
  await beat('node-1/0', 1, newer)
  await expect(start([], (waits) => beat('node-1/0', 1 + waits, newer))).rejects.toThrow(
    'node-1/0 (all modules, with the unknown module newer)',
  )
})

test('rows of ended processes delay only the first start', async () => {
  await beat('ended/0', 9, ['screening'])
  expect(await start(['backups'])).toBe(14)
  expect(await start(['backups'])).toBe(0)
  expect(await temporary.store.liveProcesses.list()).toEqual([])
})

test('a start beside processes with the same modules does not wait', async () => {
  await beat('node-1/0', 1, ['backups', 'screening'])
  expect(await start(['backups', 'screening'])).toBe(0)
  expect(await temporary.store.liveProcesses.list()).toHaveLength(1)
})
