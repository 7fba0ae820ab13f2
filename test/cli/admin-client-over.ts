// The command line's admin client on a store that a test keeps open. Closing the client leaves the store open.
import { dirname } from 'node:path'
import { openAdminClient } from '../../src/cli/open-admin-client.ts'
import type { Open } from '../../src/command-line/admin-client.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/lib/time.ts'
import { MODULES } from '../../src/modules.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import type { Store } from '../../src/store/store.ts'

const never = (): never => {
  throw new Error('not reached')
}

interface OpenStore {
  readonly store: Store
  readonly clock: Clock
  /** Path of the database, whose folder is the data folder. */
  readonly path?: string
}

export const openOver =
  ({ store, clock, path = '/nowhere/countersign.db' }: OpenStore, user = 'anna'): Open =>
  async () => ({
    ...openAdminClient({
      config: loadConfig({ arguments: [], environment: { COUNTERSIGN_DATA_DIR: dirname(path) } }),
      folder: dataFolderAt(dirname(path)),
      store,
      provided: [],
      modules: MODULES,
      clock,
      user,
      override: null,
      openKeys: never,
      openEvidence: never,
    }),
    close: async () => undefined,
  })
