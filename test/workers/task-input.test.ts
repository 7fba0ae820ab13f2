// The encoding of the input of a task's process.
import { expect, test } from 'bun:test'
import { readListImages } from '../../src/domain/list-image.ts'
import { decodeTaskInput, encodeTaskInput } from '../../workers/tasks/task-input.ts'
import { listImage, setOf } from '../facts/lists/list-images.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const CAROL = `0x${'ca'.repeat(20)}`

test('lists are decoded with their addresses and changes', () => {
  const task = {
    kind: 'policy.replay',
    input: { text: 'two\nlines' },
    lists: [
      listImage([ALICE, CAROL], { removed: setOf([CAROL]) }),
      listImage([], { name: 'vip', added: setOf([BOB]) }),
    ],
  }
  const { kind, input, lists } = decodeTaskInput(encodeTaskInput(task))
  expect({ kind, input }).toEqual({ kind: task.kind, input: task.input })
  const read = readListImages(lists, () => 0)
  const among = (name: string) => [ALICE, BOB, CAROL].map((address) => read.contains(name, address))
  expect([among('deny'), among('vip')]).toEqual([
    [true, false, false],
    [false, true, false],
  ])
})
