// Long chains of accounts and keys that created each other. The number of queries is bounded.
import { expect, test } from 'bun:test'
import { ConflictError } from '../../../src/admin/errors.ts'
import { holderOf, recordHolder, requireTwoApprovers } from '../../../src/admin/second-person/approvers.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createAccountMakerTable } from '../../../src/store/accounts/account-makers.ts'
import { databaseScope } from '../../../src/store/copy/table-scope.ts'
import type { Database } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/store.ts'
import { describeStores } from '../../store/dialects.ts'
import { storeOfTest } from '../../store/store-of-test.ts'

test('a link is not created if its holder cannot be recorded', async () => {
  const add = () => Promise.reject(new Error('the disk is full'))
  const tables = { accountMakers: { add } } as unknown as Pick<Tables, 'accountMakers'>
  await expect(recordHolder(tables, 'holder', 'user', null)).rejects.toThrow('the disk is full')
})

test('the holder of a key is searched in a limited number of steps', async () => {
  let steps = 0
  const findRecipient = async (): Promise<string> => `key:${++steps}`
  const tables = { apiKeys: { findRecipient } } as unknown as Pick<Tables, 'apiKeys'>
  await expect(holderOf(tables, 'key:0')).rejects.toThrow('issued through too many other keys')
  expect(steps).toBeLessThan(30)
})

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('accounts that invited each other are related, and are compared with one query', async () => {
    const { store, clock } = temporary
    const { id: organizationId } = await store.organizations.create({ slug: 'alpha', name: 'Alpha' })
    const join = async (name: string, makerId: string | null): Promise<string> => {
      const account = { email: `${name}@example.com`, name, deploymentAdmin: false, passwordHash: 'x' }
      const { id: userId } = await store.users.create(account)
      await store.memberships.add(organizationId, userId, 'organization-admin')
      if (makerId !== null) {
        await store.accountMakers.add({ userId, makerId, organizationId, kind: 'made', holdsLink: true })
      }
      return userId
    }
    let queries = 0
    const counting: Database = {
      ...store.database,
      query: (...given) => {
        queries += 1
        return store.database.query(...given)
      },
    }
    const tables = { accountMakers: createAccountMakerTable(databaseScope(counting, systemClock)) }
    let last: string | null = null
    for (let number = 0; number < 120; number++) last = await join(`user${number}`, last)
    await expect(requireTwoApprovers(tables, organizationId)).rejects.toThrow(ConflictError)
    // Queries for the administrators, the administrators at the start of the rule, and the relations.
    expect(queries).toBe(3)
    clock.advance(-1_000)
    await join('other', null)
    await requireTwoApprovers(tables, organizationId)
  })
})
