// Deployment that a command's settings select, with a lock for work that requires a stopped service.
import { join } from 'node:path'
import type { Opened } from '../command-line/admin-client.ts'
import type { CommandDeployment } from '../command-line/command-deployment.ts'
import { CommandFailedError } from '../command-line/output.ts'
import type { Override } from '../command-line/second-person.ts'
import type { Config } from '../config/config.ts'
import { secretVariable } from '../config/setting.ts'
import { SETTINGS } from '../config/settings.ts'
import { findServiceAmong } from '../lib/service-key.ts'
import { type Clock, systemClock } from '../lib/time.ts'
import { providedByModules, runningModules } from '../module-interface/open-modules.ts'
import { MODULES } from '../modules.ts'
import {
  foreignSessionToken,
  openShipTarget,
  SHIPPING,
  ShipAccessMissingError,
  type ShippingService,
} from '../object-store/ship-access.ts'
import type { ShipPlace, ShipTarget } from '../object-store/ship-target.ts'
import { type DataFolder, dataFolderAt } from '../setup/data-folder.ts'
import { locateStore, storeMayExist } from '../setup/store-location.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { findUsers } from '../store/live-processes.ts'
import { lockFolder } from '../store/sqlite/folder-lock.ts'
import type { Store } from '../store/store.ts'
import { createLogger } from '../telemetry/log.ts'
import { describeGivenSettings } from './given-settings.ts'
import { openAdminClient } from './open-admin-client.ts'

const shipTargetOf = (shipping: ShippingService | null, named: ShipPlace | null): ShipTarget => {
  const place = named ?? shipping?.place ?? null
  if (place === null) throw new CommandFailedError('specify a target, or set COUNTERSIGN_DECISIONS_SHIP')
  try {
    const access = shipping?.accessTo(place) ?? null
    const foreign = foreignSessionToken(access)
    if (foreign !== null) {
      throw new CommandFailedError(`${foreign} is set and belongs to other credentials: unset it for this command`)
    }
    return openShipTarget(place, access)
  } catch (error) {
    if (error instanceof ShipAccessMissingError) throw new CommandFailedError(error.message)
    throw error
  }
}

/** A mistyped folder must not become a new, empty deployment. */
const openExistingStore = async (config: Config, folder: DataFolder, clock: Clock): Promise<Store> => {
  const target = await locateStore(config, folder)
  if (!storeMayExist(target)) {
    throw new StoreUnusableError(`no deployment in ${folder.root}: start the service once, or set --data-dir`)
  }
  const { openStore } = await import('../store/store.ts')
  return openStore({ target, clock, limits: config, onlyExisting: true })
}

/** Returns the settings that contain or name secrets, as environment variables for another process. */
const secretSettingsOf = (config: Config): Record<string, string> =>
  Object.assign(
    {},
    ...runningModules(MODULES, config).map(({ trialEnvironment }) => trialEnvironment?.(config)),
    ...(['passphrase', 'evidenceKey', 'accountKey'] as const).map((key) => secretVariable(SETTINGS[key], config[key])),
  )

const runAlone = async <Result>(
  config: Config,
  folder: DataFolder,
  work: (store: Store) => Promise<Result>,
): Promise<Result> => {
  const lock = lockFolder(folder.lock, folder.root)
  try {
    const store = await openExistingStore(config, folder, systemClock)
    try {
      // The lock covers only this node, so check for other nodes.
      const users = await findUsers(store.database, { wait: Bun.sleep })
      if (users.length > 0)
        throw new StoreUnusableError(`stop every node first: the store is in use by ${users.join(', ')}`)
      return await work(store)
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

/** Two concurrent rotations would each create a next key. */
const rotateAlone = async <Result>(folder: DataFolder, work: () => Promise<Result>): Promise<Result> => {
  const held = `another rotation is running on ${folder.root}: wait until it has finished`
  const lock = lockFolder(join(folder.root, 'rotation.lock'), folder.root, held)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

interface DeploymentInput {
  readonly config: Config
  readonly configFile: string | null
  readonly clock: Clock
  readonly user: string
  readonly override: Override | null
}

export const createDeployment = ({ config, configFile, clock, user, override }: DeploymentInput): CommandDeployment => {
  const folder = dataFolderAt(config.dataDir)
  const provided = providedByModules(MODULES, { config, folder })
  const findService = findServiceAmong(provided)
  const shipping = findService(SHIPPING)
  const openStore = (): Promise<Store> => openExistingStore(config, folder, clock)
  const withStore = async <Result>(work: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openStore()
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }
  const openKeys = async (store: Store) =>
    (await import('../setup/evidence-key.ts')).prepareOrganizationKeys(config, folder, store)
  return {
    config,
    configFile,
    folder,
    findService,
    servicesAt: (restored) => findServiceAmong(providedByModules(MODULES, { config, folder: restored })),
    shipping,
    openStore,
    withStore,
    locateStore: () => locateStore(config, folder),
    open: async (): Promise<Opened> => {
      const store = await openStore()
      return openAdminClient({
        config,
        folder,
        store,
        provided,
        modules: runningModules(MODULES, config),
        clock,
        user,
        override,
        openKeys: () => openKeys(store),
        openEvidence: async () =>
          (await import('../compose/evidence-service.ts')).createEvidenceParts({
            store,
            keys: await openKeys(store),
            folder: folder.evidence,
            log: createLogger({ level: config.logLevel }),
          }),
      })
    },
    shipTarget: (named: ShipPlace | null) => shipTargetOf(shipping, named),
    describeSettings: describeGivenSettings,
    secretSettings: () => secretSettingsOf(config),
    rotateAlone: <Result>(work: () => Promise<Result>): Promise<Result> => rotateAlone(folder, work),
    rotateEvidenceKey: () =>
      withStore(async (store) => {
        const { rotateEvidenceKey } = await import('../setup/evidence-key.ts')
        return rotateAlone(folder, () => rotateEvidenceKey({ config, folder, store, wait: Bun.sleep }))
      }),
    runAlone: <Result>(work: (store: Store) => Promise<Result>): Promise<Result> => runAlone(config, folder, work),
  }
}
