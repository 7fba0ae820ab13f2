// Refuses a decision whose comparison used earlier lists or settings. Reads the versions in the decision's transaction,
// because the lists in memory may be outdated.
import { isUncompared, NAME_CHECK } from '../../../domain/screening-hit.ts'
import type { Session } from '../../../domain/session.ts'
import { ChecksPendingError } from '../../../domain/session-errors.ts'
import { NOTHING } from '../../../identity/checks/checks.ts'
import type { Tables } from '../../../store/store.ts'
import { versionsOf } from '../processes/list-versions.ts'
import { nameVersion } from './name-checks.ts'
import { WALLET_CHECK, walletVersion } from './wallet-checks.ts'

type ComparedTables = Pick<Tables, 'lists' | 'screeningLists' | 'screeningSettings' | 'sessionChecks'>

/** @throws ChecksPendingError */
export const requireCurrentLists = async (
  tables: ComparedTables,
  { organizationId, id }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  const made = await tables.sessionChecks.list(organizationId, id)
  // Repeating a failed comparison may fail again, so a person decides.
  if (isUncompared(made)) return
  const settings = await tables.screeningSettings.read(organizationId)
  const versions = versionsOf(await tables.screeningLists.list())
  const addressLists = [...(await tables.lists.list(null)), ...(await tables.lists.list(organizationId))]
  const present = {
    [NAME_CHECK]: Object.keys(versions).length === 0 ? NOTHING : nameVersion(versions, settings),
    [WALLET_CHECK]: walletVersion(addressLists, organizationId, settings),
  }
  for (const [check, version] of Object.entries(present)) {
    const stored = made.find(({ name }) => name === check)?.version ?? NOTHING
    if (stored !== version) throw new ChecksPendingError()
  }
}
