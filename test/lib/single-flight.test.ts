import { expect, test } from 'bun:test'
import { singleFlight } from '../../src/lib/single-flight.ts'

test('callers share a run in flight, and the next call starts another run', async () => {
  const runs: PromiseWithResolvers<number>[] = []
  const run = singleFlight(() => {
    const begun = Promise.withResolvers<number>()
    runs.push(begun)
    return begun.promise
  })
  const together = [run(), run()]
  expect(runs).toHaveLength(1)
  runs[0]?.resolve(1)
  expect(await Promise.all(together)).toEqual([1, 1])
  const failing = run()
  expect(runs).toHaveLength(2)
  const settled = run.settled()
  runs[1]?.reject(new Error('the work failed'))
  await expect(failing).rejects.toThrow('the work failed')
  await settled
  await run.settled()
  void run()
  expect(runs).toHaveLength(3)
})
