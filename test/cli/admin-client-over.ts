// The command line's admin client over a store that a test holds open: commands close what they open, and the test goes on with it.
import { dirname } from 'node:path'
import { openAdminClient } from '../../src/cli/open-admin-client.ts'
import type { Open } from '../../src/command-line/admin-client.ts'
import type { Override } from '../../src/command-line/second-person.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/lib/time.ts'
import { MODULES } from '../../src/modules.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import type { Store } from '../../src/store/store.ts'

const never = (): never => {
  throw new Error('not reached')
}

interface DoorOver {
  readonly store: Store
  readonly clock: Clock
  /** Of its database; its folder is the data folder. */
  readonly path?: string
}

export const openOver =
  (
    { store, clock, path = '/nowhere/countersign.db' }: DoorOver,
    user = 'anna',
    override: Override | null = null,
  ): Open =>
  async () => ({
    ...openAdminClient({
      config: loadConfig({ arguments: [], environment: { COUNTERSIGN_DATA_DIR: dirname(path) } }),
      folder: dataFolderAt(dirname(path)),
      store,
      provided: [],
      modules: MODULES,
      clock,
      user,
      override,
      openKeys: never,
      openEvidence: never,
    }),
    close: async () => undefined,
  })
