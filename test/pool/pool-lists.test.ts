// Lists reach every worker before the jobs that are decided on them.
import { expect, test } from 'bun:test'
import type { ControlMessage } from '../../src/pool/protocol.ts'
import { listImage } from '../facts/lists/list-images.ts'
import { createHarness, startHarness } from './support/harness.ts'

const ALICE = `0x${'a1'.repeat(20)}`
type ListsMessage = Extract<ControlMessage, { type: 'lists' }>

const listsSentTo = (worker: { controls: readonly ControlMessage[] }): ListsMessage[] =>
  worker.controls.filter((message): message is ListsMessage => message.type === 'lists')

test('a worker gets all lists when it starts, and one that replaces it gets the newest', async () => {
  const harness = createHarness({ workers: 1 })
  harness.pool.updateLists([listImage([ALICE]), listImage([], { id: 'list_2' })], [])
  const started = harness.pool.start()
  await harness.pump()
  await started
  expect(listsSentTo(harness.worker(0)).map(({ images }) => images.map(({ id }) => id))).toEqual([['list_1', 'list_2']])
  harness.pool.updateLists([listImage([], { id: 'list_3' })], ['list_2'])
  await harness.lose(0)
  expect(listsSentTo(harness.worker(1)).map(({ images }) => images.map(({ id }) => id))).toEqual([['list_1', 'list_3']])
})

test('every worker hears of every change, and none is told of nothing', async () => {
  const harness = await startHarness({ workers: 2 })
  expect(harness.workers.flatMap(listsSentTo)).toEqual([])
  const image = listImage([ALICE])
  harness.pool.updateLists([image], [])
  harness.pool.updateLists([], ['list_1'])
  for (const worker of harness.workers) {
    expect(listsSentTo(worker)).toEqual([
      { type: 'lists', images: [image], removedIds: [] },
      { type: 'lists', images: [], removedIds: ['list_1'] },
    ])
    // The addresses themselves are not copied.
    expect(listsSentTo(worker)[0]?.images[0]?.entries).toBe(image.entries)
  }
})
