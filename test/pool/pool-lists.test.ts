// Delivery of lists to the workers, before the jobs that use them.
import { expect, test } from 'bun:test'
import type { ControlMessage } from '../../src/pool/protocol.ts'
import { listImage } from '../facts/lists/list-images.ts'
import { createHarness, startHarness } from './support/harness.ts'

const ALICE = `0x${'a1'.repeat(20)}`
type ListsMessage = Extract<ControlMessage, { type: 'lists' }>

const listsSentTo = (worker: { controls: readonly ControlMessage[] }): ListsMessage[] =>
  worker.controls.filter((message): message is ListsMessage => message.type === 'lists')

test('a worker gets the current lists when it starts', async () => {
  const harness = createHarness({ workers: 1 })
  harness.pool.updateLists([listImage([ALICE]), listImage([], { id: 'list_2' })], [])
  const started = harness.pool.start()
  await harness.pump()
  await started
  const sentIds = (index: number) => listsSentTo(harness.worker(index)).map(({ images }) => images.map(({ id }) => id))
  expect(sentIds(0)).toEqual([['list_1', 'list_2']])
  harness.pool.updateLists([listImage([], { id: 'list_3' })], ['list_2'])
  await harness.lose(0)
  expect(sentIds(1)).toEqual([['list_1', 'list_3']])
})

test('every worker gets every change, and gets messages only for changes', async () => {
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
    // Addresses are not copied.
    expect(listsSentTo(worker)[0]?.images[0]?.entries).toBe(image.entries)
  }
})
