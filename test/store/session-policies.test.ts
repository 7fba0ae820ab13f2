// Outcomes of a shadow session policy, compared with the outcomes that took effect.
import { beforeEach, expect, test } from 'bun:test'
import { databaseScope } from '../../src/store/copy/table-scope.ts'
import type { SqlParameter } from '../../src/store/database.ts'
import { createSessionPolicyTable } from '../../src/store/sessions/session-policies.ts'
import { describeStores } from './dialects.ts'
import { createSession } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

const OUTCOMES = ['completed', 'rejected', 'review'] as const
type Evaluated = readonly [outcome: (typeof OUTCOMES)[number], rule: string | null, problem?: string]

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)
  let organizationId: string
  let policyId: string
  let active: string
  let shadow: string

  beforeEach(async () => {
    const { policies } = temporary.store
    ;({ organizationId } = await seedOrganization(temporary.store, 'demo'))
    policyId = (await policies.create({ organizationId, name: 'Decider', decides: 'sessions' })).id
    const save = async (source: string): Promise<string> => {
      const revision = await policies.saveRevision({ organizationId, policyId, source, quorum: 1 })
      if (revision === null) throw new Error('not saved')
      return revision.id
    }
    active = await save('name: Decider\ndecides: sessions\nrules: []\n')
    shadow = await save('name: Decider\ndecides: sessions\nrules: [{ id: a, allow: person.age > 17 }]\n')
  })

  /** Records the outcomes of the active revision, if any, and the shadow for a new session. @returns its id */
  const record = async (decided: Evaluated | null, beside: Evaluated): Promise<string> => {
    const { store, clock } = temporary
    clock.advance(1)
    const { sessionId } = await createSession(store, organizationId)
    const evaluated = (revisionId: string, [outcome, rule, problem]: Evaluated) => ({
      revisionId,
      outcome,
      rule,
      problem: problem ?? null,
    })
    await store.sessionPolicies.record({
      organizationId,
      sessionId,
      policyId,
      sequence: 1,
      decided: decided === null ? null : { ...evaluated(active, decided), code: null },
      shadow: evaluated(shadow, beside),
    })
    return sessionId
  }

  test('a shadow agrees if its outcome and its rule equal those that took effect', async () => {
    const { sessionPolicies } = temporary.store
    await record(['completed', 'a'], ['completed', 'a'])
    await record(['review', null], ['review', null])
    const fromHere = temporary.clock.unixSeconds() + 1
    const otherOutcome = await record(['rejected', 'a'], ['completed', 'a'])
    await record(['completed', 'a'], ['completed', 'b'])
    await record(['review', null], ['review', 'a'])
    // Without an active revision, a person decided.
    const withoutActive = await record(null, ['review', null])
    const failed = await record(['completed', 'a'], ['review', null, 'person.age is not available'])
    expect(await sessionPolicies.countShadow(organizationId, shadow, undefined)).toEqual({
      same: 2,
      different: 4,
      failed: 1,
      exact: true,
      byOutcome: { completed: 3, rejected: 0, review: 4 },
    })
    expect(await sessionPolicies.countShadow(organizationId, shadow, fromHere)).toMatchObject({ same: 0, different: 4 })
    const ofActive = await sessionPolicies.countShadow(organizationId, active, undefined)
    expect(ofActive).toMatchObject({ same: 0, different: 0 })
    const listed = await sessionPolicies.listShadowed(organizationId, shadow)
    expect(listed.map(({ sessionId }) => sessionId).toSorted()).toEqual(
      [failed, withoutActive, otherOutcome].toSorted(),
    )
  })

  test('results of a shadow are read from the newest sessions, as a long read, and marked as incomplete', async () => {
    const { store, clock } = temporary
    await record(null, ['review', null])
    const newest = [await record(null, ['review', null]), await record(['completed', 'a'], ['rejected', 'a'])]
    const reads: string[] = []
    const database = {
      ...store.database,
      query: () => Promise.reject(new Error('a read on the main thread')),
      queryLong: <Row>(text: string, parameters: readonly SqlParameter[] = []) => {
        reads.push(text)
        return store.database.query<Row>(text, parameters)
      },
    }
    const policies = createSessionPolicyTable(databaseScope(database, clock), 2)
    const counts = await policies.countShadow(organizationId, shadow, undefined)
    expect(counts).toMatchObject({ different: 2, exact: false })
    const listed = await policies.listShadowed(organizationId, shadow)
    expect(listed.map(({ sessionId }) => sessionId)).toEqual(newest.toSorted().toReversed())
    expect(reads).toHaveLength(2)
  })
})
