// The request on whose behalf code runs.
import { expect, test } from 'bun:test'
import { assignOwner, currentCaller, runFor } from '../../src/lib/caller.ts'

const NO_REQUEST = { owner: '', signal: null }

test('work belongs to its request, whose organization may become known later', async () => {
  const { signal } = new AbortController()
  expect(currentCaller()).toEqual(NO_REQUEST)
  await runFor({ owner: '', signal }, async () => {
    await Promise.resolve()
    expect(currentCaller()).toEqual({ owner: '', signal })
    assignOwner('A')
    await Promise.resolve()
    expect(currentCaller()).toEqual({ owner: 'A', signal })
  })
  expect(currentCaller()).toEqual(NO_REQUEST)
})

test('background work started by a request belongs to no request after the request ends', async () => {
  const end = Promise.withResolvers<void>()
  let background: Promise<unknown> | undefined
  await runFor({ owner: 'A', signal: AbortSignal.abort() }, async () => {
    background = end.promise.then(currentCaller)
  })
  end.resolve()
  expect(await background).toEqual(NO_REQUEST)
})
