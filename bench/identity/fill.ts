// Fills a deployment with verified wallets, two per person. The database creates the rows itself, one batch per
// transaction.
import type { RunningService } from '../scale/running-service.ts'
import { withStore } from '../scale/running-service.ts'

const WALLETS_PER_PERSON = 2
const PERSONS_PER_BATCH = 20_000

/** Spreads the addresses over the whole range, like real addresses, so that no index is filled in order. */
const SPREAD = 2_654_435_761n

export const filledWallet = (number: number): string =>
  `0x${((BigInt(number) * SPREAD) % 2n ** 32n).toString(16).padStart(8, '0')}${number.toString(16).padStart(32, '0')}`

const NUMBERS = 'WITH RECURSIVE numbers (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?)'
const PERSON = "'person_bench' || printf('%012d', n)"
const SESSION = "'10000000-0000-7000-8000-' || printf('%012d', n)"
const SECONDS = '1700000000'
const ADDRESS = `'0x' || printf('%08x', (wallet * ${SPREAD}) % 4294967296) || printf('%032x', wallet)`

const PERSONS = `${NUMBERS} INSERT INTO persons (id, organization_id, environment, check_type, created_at_seconds)
  SELECT ${PERSON}, ?, 'live', 'kyc', ${SECONDS} FROM numbers`

const SESSIONS = `${NUMBERS} INSERT INTO sessions (organization_id, id, environment, check_type, status, level, provider,
    person_id, user_id, retry_count, sequence, created_at_seconds, updated_at_seconds, completed_at_seconds)
  SELECT ?, ${SESSION}, 'live', 'kyc', 'completed', 1, 'manual', ${PERSON}, 'user_bench' || printf('%012d', n), 0, 3,
    ${SECONDS}, ${SECONDS}, ${SECONDS} FROM numbers`

const WALLETS = `${NUMBERS} INSERT INTO session_wallets (id, organization_id, session_id, environment, connected_sequence,
    chain, address, address_text, connected_at_seconds)
  SELECT 'wallet_bench' || printf('%012d', wallet), ?, ${SESSION}, 'live', 2, 'ethereum', ${ADDRESS}, ${ADDRESS}, ${SECONDS}
  FROM (SELECT n, n * ${WALLETS_PER_PERSON} + place AS wallet FROM numbers, (SELECT 0 AS place UNION ALL SELECT 1))`

/** @param progress called with the number of wallets */
export const fillWallets = (
  service: Pick<RunningService, 'dataDirectory'>,
  wallets: number,
  progress: (wallets: number) => void,
): Promise<void> =>
  withStore(service, async (store, organizationId) => {
    const persons = Math.ceil(wallets / WALLETS_PER_PERSON)
    for (let start = 0; start < persons; start += PERSONS_PER_BATCH) {
      const end = Math.min(persons, start + PERSONS_PER_BATCH)
      const parameters = [start, end, organizationId]
      await store.database.transaction(
        async (transaction) => {
          for (const sql of [PERSONS, SESSIONS, WALLETS]) await transaction.execute(sql, parameters)
        },
        { survives: 'process-crash' },
      )
      progress(end * WALLETS_PER_PERSON)
    }
  })
