// A temporary store that is opened before each test, or once per suite, and removed afterwards.
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { openStore } from '../../src/store/store.ts'
import type { TemporaryStore } from './temporary-store.ts'

type Open = () => Promise<TemporaryStore>
type Hook = (work: () => Promise<void>) => void

/** @returns an object with the members of the running test's store */
const storeBetween = <Opened extends TemporaryStore>(
  before: Hook,
  after: Hook,
  open: () => Promise<Opened>,
): Omit<Opened, 'remove'> => {
  let current: Opened
  before(async () => {
    current = await open()
  })
  after(() => current.remove())
  return new Proxy({} as Opened, { get: (_, name) => Reflect.get(current, name) })
}

export const storeOfTest = (open: Open) => storeBetween(beforeEach, afterEach, open)
export const storeOfSuite = (open: Open) => storeBetween(beforeAll, afterAll, open)

/** `nodes` are two stores over one database, as on two machines. */
export const nodesOfTest = (open: Open) =>
  storeBetween(beforeEach, afterEach, async () => {
    const temporary = await open()
    const { store, target, clock, remove } = temporary
    const other = await openStore({ target, clock })
    return {
      ...temporary,
      nodes: [store, other] as const,
      remove: async () => {
        await other.close()
        await remove()
      },
    }
  })
