// Uploads of list files, edits and rewrites of lists: their number, order and time limits.
import { describe, expect, test } from 'bun:test'
import { createListUploads } from '../../src/admin/list-uploads.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { createManualClock, createManualTimers } from '../server/manual-clock.ts'

const countBytes = async (bytes: AsyncIterable<Uint8Array>): Promise<number> => {
  let count = 0
  for await (const chunk of bytes) count += chunk.length
  return count
}

/** A body whose chunks a test sends. */
const openBody = () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  return { body: readable, send: () => writer.write(new Uint8Array(10)), end: () => writer.close(), writer }
}

test('an owner can have one upload at a time and a process two, and the body of a further upload is not read', async () => {
  const uploads = createListUploads()
  const [first, second, other] = [openBody(), openBody(), openBody()]
  const done = uploads.run('alpha', first.body, countBytes)
  const busy = { code: 'OVERLOADED', retryAfterSeconds: 5 }
  await expect(uploads.run('alpha', second.body, countBytes)).rejects.toMatchObject(busy)
  // The body of the refused upload is canceled.
  await second.writer.closed.catch(() => undefined)
  const ofDeployment = uploads.run(null, other.body, countBytes)
  await expect(uploads.run('beta', openBody().body, countBytes)).rejects.toMatchObject(busy)
  await Promise.all([first.send(), first.end(), other.end()])
  expect(await Promise.all([done, ofDeployment])).toEqual([10, 0])
  const [again, beta] = [openBody(), openBody()]
  const both = [uploads.run('alpha', again.body, countBytes), uploads.run('beta', beta.body, countBytes)]
  await Promise.all([again.end(), beta.end()])
  expect(await Promise.all(both)).toEqual([0, 0])
})

test('an upload that stalls is refused, and frees its slot', async () => {
  const uploads = createListUploads({ timeLimitMs: 60_000, graceMs: 1, bytesPerSecondMin: 1_000_000 })
  for (let round = 0; round < 3; round++) {
    const { body, send } = openBody()
    const stalled = uploads.run('alpha', body, countBytes)
    void send().catch(() => undefined)
    await expect(stalled).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      detail: 'the list was not changed: the file took too long to arrive',
    })
  }
})

test('a file in tiny chunks is refused, because each chunk costs time', async () => {
  const bytes = (count: number, size: number) =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (count === 0) controller.close()
        else controller.enqueue(new Uint8Array(size))
        count -= 1
      },
    })
  const uploads = createListUploads()
  await expect(uploads.run('alpha', bytes(3_000, 1), countBytes)).rejects.toMatchObject({
    detail: 'the list was not changed: the file was sent in chunks that are too small: use larger chunks',
  })
  expect(await uploads.run('alpha', bytes(3_000, 300), countBytes)).toBe(900_000)
})

describe('edits of entries', () => {
  test('pause for other work, and do not delay other organizations', async () => {
    const clock = createManualClock()
    const timers = createManualTimers()
    const { edit } = createListUploads(undefined, clock, timers.after)
    const order: string[] = []
    const change = (owner: string, name: string): Promise<void> =>
      edit(owner, async () => {
        order.push(name)
        if (owner === 'ours') clock.advance(20)
      })
    await change('ours', 'first')
    expect(timers.delayMs()).toBe(80)
    const second = change('ours', 'second')
    const gate = Promise.withResolvers<void>()
    const theirs = edit('theirs', async () => {
      order.push('theirs')
      await gate.promise
    })
    await nextTurn()
    expect(order).toEqual(['first', 'theirs'])
    timers.fire()
    await second
    expect(order).toEqual(['first', 'theirs', 'second'])
    timers.fire()
    gate.resolve()
    await theirs
  })

  test('wait in a queue per organization', async () => {
    const { edit } = createListUploads(undefined, createManualClock(), () => () => undefined)
    const gate = Promise.withResolvers<void>()
    for (let index = 0; index < 65; index++) void edit('ours', () => gate.promise)
    await expect(edit('ours', () => gate.promise)).rejects.toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 1 })
    await edit('theirs', async () => undefined)
  })
})

describe('rewrites of stored lists', () => {
  test('run one at a time, once per list, and organizations take turns', async () => {
    const { rewrite } = createListUploads()
    const order: string[] = []
    const gates = new Map<string, () => void>()
    const start = (owner: string, listId: string): Promise<void> =>
      rewrite(owner, listId, () => {
        order.push(listId)
        return new Promise((resolve) => void gates.set(listId, resolve))
      })
    const finish = async (listId: string): Promise<void> => {
      gates.get(listId)?.()
      await nextTurn()
    }
    const ours = [start('ours', 'a'), start('ours', 'a'), start('ours', 'b'), start('ours', 'c')]
    const theirs = start('theirs', 'd')
    await nextTurn()
    expect(order).toEqual(['a'])
    await finish('a')
    expect(order).toEqual(['a', 'd'])
    for (const listId of ['d', 'b', 'c']) await finish(listId)
    await Promise.all([...ours, theirs])
    expect(order).toEqual(['a', 'd', 'b', 'c'])
    // A later call starts another rewrite.
    const again = start('ours', 'a')
    await nextTurn()
    await finish('a')
    await again
    expect(order.at(-1)).toBe('a')
  })

  test('wait in a short queue per organization', async () => {
    const { rewrite } = createListUploads()
    const started = Array.from({ length: 5 }, (_, index) => rewrite('ours', `list_${index}`, () => nextTurn()))
    await expect(rewrite('ours', 'list_5', () => nextTurn())).rejects.toMatchObject({ code: 'OVERLOADED' })
    await Promise.all(started)
  })
})
