// Leaders by role: processes with different roles on one store, and a role that no process serves.
import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { LeaderTask } from '../../src/cluster/leader.ts'
import { ABANDONED_MS } from '../../src/cluster/lease-watch.ts'
import { createSharing, type Sharing } from '../../src/compose/sharing-service.ts'
import { LEADER_ROLES, type LeaderRole } from '../../src/domain/process-role.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../store/temporary-store.ts'
import { createTurnedTime, settle } from '../support/turned-time.ts'

const folder = temporaryFolder()
const stores: Store[] = []
const started: Sharing[] = []
let files = 0
afterAll(() => folder.remove())
afterEach(async () => {
  for (const sharing of started.splice(0)) {
    await sharing.stopLeading()
    await sharing.stop()
  }
  await Promise.all(stores.splice(0).map((store) => store.close()))
})

const createDeployment = () => {
  const time = createTurnedTime()
  const target = { kind: 'sqlite', path: join(folder.path, `${++files}.db`) } as const
  return {
    time,
    startProcess: async (...roles: readonly LeaderRole[]) => {
      const store = await openStore({ target, clock: time })
      stores.push(store)
      const running: LeaderRole[] = []
      const warnings: unknown[] = []
      const log = { info: () => undefined, warn: (_: string, fields?: object) => void warnings.push(fields) }
      let sweeps = 0
      const sweep = async (): Promise<number> => {
        sweeps += 1
        return 0
      }
      const counted = { ...store, rateLeases: { ...store.rateLeases, sweep } }
      const sharing = createSharing({
        store: counted,
        index: 0,
        modules: [],
        onReturn: async () => undefined,
        clock: time,
        timers: time,
        log,
      })
      started.push(sharing)
      const taskOf = (role: LeaderRole): LeaderTask => ({
        name: role,
        start: () => void running.push(role),
        stop: async () => undefined,
      })
      await sharing.lead(new Map(roles.map((role) => [role, [taskOf(role)]])))
      await settle()
      return { sharing, running, warnings, sweeps: () => sweeps }
    },
  }
}

test('a process with all roles leads all of them', async () => {
  const { startProcess } = createDeployment()
  const one = await startProcess(...LEADER_ROLES)
  expect(one.running).toEqual(['attestation', 'identity'])
  expect(one.sharing.describe()).toEqual({ leader: 'here' })
  const two = await startProcess(...LEADER_ROLES)
  expect([two.running, two.sharing.describe(), two.sharing.leads()]).toEqual([[], { leader: 'elsewhere' }, false])
})

test('shared outdated rows are swept once, for any roles that the process leads', async () => {
  for (const roles of [LEADER_ROLES, ['attestation'], ['identity']] as const) {
    const { time, startProcess } = createDeployment()
    const { sweeps } = await startProcess(...roles)
    await time.advance(11_000)
    expect(sweeps()).toBe(1)
  }
})

test('each task runs in a process with its role', async () => {
  const { time, startProcess } = createDeployment()
  const identity = await startProcess('identity')
  const attestation = await startProcess('attestation')
  const page = await startProcess()
  await time.advance(2 * ABANDONED_MS)
  expect([identity.running, attestation.running, page.running]).toEqual([['identity'], ['attestation'], []])
  const states = [identity, attestation, page].map(({ sharing }) => sharing.describe())
  expect(states).toEqual([{ leader: 'here' }, { leader: 'here' }, {}])
  expect([identity, attestation, page].flatMap(({ warnings }) => warnings)).toEqual([])
})

test('a role that no process serves is reported, and no process runs its tasks', async () => {
  const { time, startProcess } = createDeployment()
  const { sharing, running, warnings } = await startProcess('attestation')
  await time.advance(ABANDONED_MS + 2_000)
  expect(running).toEqual(['attestation'])
  expect(sharing.describe()).toEqual({ leader: 'here', unserved: 'identity' })
  expect(warnings).toEqual([{ role: 'identity' }])
})
