// A temporary store that is opened before each test, or once for a suite, and removed afterwards.
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import type { TemporaryStore } from './temporary-store.ts'

type Open = () => Promise<TemporaryStore>
type Hook = (work: () => Promise<void>) => void

/** @returns an object with the members of the running test's store */
const storeBetween = (before: Hook, after: Hook, open: Open): Omit<TemporaryStore, 'remove'> => {
  let current: TemporaryStore
  before(async () => {
    current = await open()
  })
  after(() => current.remove())
  return new Proxy({} as TemporaryStore, { get: (_, name) => Reflect.get(current, name) })
}

export const storeOfTest = (open: Open) => storeBetween(beforeEach, afterEach, open)
export const storeOfSuite = (open: Open) => storeBetween(beforeAll, afterAll, open)
