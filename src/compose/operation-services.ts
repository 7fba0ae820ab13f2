// Parts of operations that the admin API and commands build in the same way.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createDownloads } from '../admin/downloads.ts'
import { createListUploads } from '../admin/list-uploads.ts'
import type { Services } from '../admin/services.ts'
import type { Config } from '../config/config.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import type { Reach } from '../domain/list.ts'
import { parseReachableUrl, UrlRefusedError } from '../facts/reachable.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import { createCountedSlots } from '../lib/counted-slots.ts'
import type { FindService } from '../lib/service-key.ts'
import { type Clock, lastingTimers } from '../lib/time.ts'
import { createFairWork } from '../policy/fair-work.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { createSourceCheck } from '../setup/fact-sources.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import { createAttesterKeystore } from '../signing/attester-files.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import type { Store } from '../store/store.ts'

interface OperationServicesDependencies {
  readonly config: Pick<Config, 'chains' | 'chainSettings' | 'screeners' | 'geoipFile' | 'webhookReach'>
  readonly folder: Pick<DataFolder, 'keystores'>
  readonly store: Store
  readonly findService: FindService
  readonly clock: Clock
  /** Called when a key is created. @throws RoleNotServedError if this process creates no keys */
  readonly passphrase: () => Promise<Passphrase>
  readonly organizationKeys: () => Promise<Pick<OrganizationKeys, 'seal' | 'open'>>
  readonly collectFacts: Services['policyFacts']['collect']
}

const reachableUrl = (text: string, reach: Reach, field = 'url'): string => {
  try {
    return parseReachableUrl(text, reach).href
  } catch (error) {
    if (error instanceof UrlRefusedError) throw new FieldInvalidError(field, error.detail)
    throw error
  }
}

export const createOperationServices = ({
  config,
  folder,
  store,
  findService,
  clock,
  passphrase,
  organizationKeys,
  collectFacts,
}: OperationServicesDependencies) =>
  ({
    store,
    findService,
    clock,
    chains: config.chains,
    createAttesterKey: async (kind) => {
      const { source, workFactor } = await passphrase()
      const made = await createAttesterKeystore({
        kind,
        directory: folder.keystores,
        passphrase: await readPassphrase(source),
        workFactor,
      })
      return { kind, address: made.address, keystoreFile: basename(made.path) }
    },
    // A key in a token has no file.
    discardKeystore: (keystoreFile) => rmSync(join(folder.keystores, basename(keystoreFile)), { force: true }),
    policyFacts: {
      collect: collectFacts,
      screeners: new Set(config.screeners.keys()),
      chains: new Set(config.chains.chains.map(({ name }) => name)),
      describeMissing: createSourceCheck(config),
    },
    policyWork: createFairWork({ clock, after: lastingTimers.after, pauseFactor: 4, waitingMax: 4 }),
    listUploads: createListUploads(),
    downloads: createDownloads(),
    reachableUrl,
    webhooks: { reach: config.webhookReach, keys: organizationKeys, testSlots: createCountedSlots() },
    // Imported on first use, because most commands need no chain client.
    inspectChains: async () => {
      const { inspectChains } = await import('../setup/chain-inspection.ts')
      return inspectChains({ ...config, readAttesters: store.attesters.list, nowSeconds: clock.unixSeconds })
    },
  }) satisfies Partial<Services>
