// Frequent queries use an index that leads to a few rows, for any number of sessions.
import { afterAll, expect, test } from 'bun:test'
import { OPERATOR_COMPLETIONS, selectLastRejection } from '../../src/store/sessions/automatic-completion.ts'
import { selectLinked } from '../../src/store/sessions/linked-sessions.ts'
import { OF_REMOVED_WALLETS, SESSIONS_OF_PERSON } from '../../src/store/sessions/persons.ts'
import {
  ADD_ADDRESSES,
  ADD_WALLETS,
  LAST_ADVERSE,
  REMOVE_REPLACED_OF_WALLETS,
  REPLACE_EARLIER,
} from '../../src/store/sessions/rejections.ts'
import { ADDRESSES_WITH_PERSON } from '../../src/store/sessions/session-changes.ts'
import { REUSABLE } from '../../src/store/sessions/session-registration.ts'
import { SESSIONS_OF_WALLET } from '../../src/store/sessions/session-wallets.ts'
import {
  PERSON_WALLETS,
  PERSON_WALLETS_UNORDERED,
  STANDING_SESSIONS,
  STANDING_SESSIONS_UNORDERED,
} from '../../src/store/sessions/wallet-standings.ts'
import { openIdentity } from './support.ts'

const identity = await openIdentity()
afterAll(() => identity.remove())

const planOf = async (sql: string): Promise<string[]> => {
  const parameters = sql.split('?').length - 1
  const rows = await identity.store.database.query<{ detail: string }>(
    `EXPLAIN QUERY PLAN ${sql}`,
    Array.from({ length: parameters }, () => 'x'),
  )
  return rows.map(({ detail }) => detail)
}

test.each([
  ['of the reuse rule', REUSABLE],
  ['of the limit of sessions per wallet', SESSIONS_OF_WALLET],
  ['of a rejection since', LAST_ADVERSE],
  ['of the operators’ completions of a session’s wallets', OPERATOR_COMPLETIONS],
  ['of a rejection of linked wallets and persons', selectLastRejection(['', ''])],
  ['of persons of disconnected wallets', OF_REMOVED_WALLETS],
  ['of a rejection’s addresses', ADD_ADDRESSES],
  ['of wallets added to rejections', ADD_WALLETS],
  ['of the rejections before a rejection', REPLACE_EARLIER],
  ['of the rejections before those added to wallets', REMOVE_REPLACED_OF_WALLETS],
  ['of the limit of sessions per person', SESSIONS_OF_PERSON],
  ['of wallets of rejections of a person', ADDRESSES_WITH_PERSON],
  ['of linked sessions', selectLinked('?, ?', '?, ?')],
  ['of a wallet’s sessions', STANDING_SESSIONS],
  ['of a person’s wallets', PERSON_WALLETS],
  ['of a wallet’s sessions as they come', STANDING_SESSIONS_UNORDERED],
  ['of a person’s wallets as they come', PERSON_WALLETS_UNORDERED],
])('the plan %s neither scans a table nor reads it by organization alone', async (_name, sql) => {
  const plan = await planOf(sql)
  expect(plan.length).toBeGreaterThan(0)
  const wide = plan.filter(
    (step) =>
      /^SCAN (sessions|session_wallets|session_removed_wallets|session_rejections)/.test(step) ||
      /\((organization_id|environment|status)=\?( AND status=\?)?\)$/.test(step),
  )
  expect(wide).toEqual([])
})
