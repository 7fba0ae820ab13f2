#!/usr/bin/env bun
// `bun run countersign VERB …`: finds the verb, gives it what it needs, and exits with its code:
// 0 done, 1 a problem was found or it can't be done, 2 the call or a setting is wrong.
import { userInfo } from 'node:os'
import { type Config, loadConfig } from '../config.ts'
import { openShipTarget, ShipAccessMissingError } from '../decisions/ship-access.ts'
import type { ShipPlace, ShipTarget } from '../decisions/ship-target.ts'
import { CountersignError } from '../domain/errors.ts'
import { systemClock } from '../domain/time.ts'
import { describeSettings, SettingInvalidError } from '../settings.ts'
import { type DataFolder, dataFolderAt } from '../setup/data-folder.ts'
import { locatePassphrase } from '../setup/passphrase.ts'
import { locateStore, storeMayExist } from '../setup/store-location.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { findUsers } from '../store/in-use.ts'
import type { Store } from '../store/store.ts'
import { createLogger } from '../telemetry/log.ts'
import { bucketAccessOf } from '../wiring/ship-service.ts'
import { isNoted, noteCommand } from './command-note.ts'
import { configFileOf, describeGivenSettings } from './given-settings.ts'
import { CommandFailedError, type CommandOutput } from './output.ts'
import { splitSettingFlags } from './setting-flags.ts'

const USAGE = `Usage: bun run countersign VERB [--data-dir FOLDER] [--config FILE] …

  org         list and create organizations, and set their level
  keys        issue, list, regenerate and revoke API keys
  attester    add, import, list and retire the keys that sign
  policy      check, test, save, activate, shadow and replay policies
  project     list, create, change and bind projects
  lists       make, fill, export and refresh lists of addresses
  geo         look an IP address up as policies see it
  screener-stub  answer as a screener would, for trials
  session     list, show and decide identity sessions
  evidence    show, save and erase what people handed in, and say how long it stays
  webhook     say who is told of sessions, and see what became of each message
  decisions   follow, verify and ship the decision log
  backup      copy the deployment to a folder while the service runs
  restore     make a deployment from a backup
  migrate     copy a database into another, SQLite or PostgreSQL
  audit       show who changed what, and verify that record
  doctor      check the configured chains, their registries and our attesters there
  settings    list every setting of the service with its default

VERB --help says more. Changes are live in a running service within a second.
`

const output: CommandOutput = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
}

/** Who works here; in a container there may be a number without a name. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

const shipTargetOf = (config: Config, named: ShipPlace | null): ShipTarget => {
  const place = named ?? config.decisionsShip
  if (place === null) throw new CommandFailedError('say where to, or set COUNTERSIGN_DECISIONS_SHIP')
  try {
    const access = bucketAccessOf(config, place)
    const foreign = ['S3_SESSION_TOKEN', 'AWS_SESSION_TOKEN'].find((name) => (process.env[name] ?? '') !== '')
    if (access?.sessionToken === null && foreign !== undefined) {
      // The runtime's client would send it along, whatever credentials it is given.
      throw new CommandFailedError(`${foreign} is set and belongs to other credentials: unset it for this command`)
    }
    return openShipTarget(place, access)
  } catch (error) {
    if (error instanceof ShipAccessMissingError) throw new CommandFailedError(error.message)
    throw error
  }
}

/** Opens what a start of the service made; a mistyped folder must not become a new, empty deployment. */
const openExistingStore = async (
  config: Config,
  folder: DataFolder,
  options: { readonly transactionLimitMs?: number } = {},
): Promise<Store> => {
  const target = await locateStore(config, folder)
  if (!storeMayExist(target)) {
    throw new StoreUnusableError(`there is no deployment in ${folder.root}: start the service once, or set --data-dir`)
  }
  const { openStore } = await import('../store/store.ts')
  return openStore({ target, clock: systemClock, onlyExisting: true, ...options })
}

const runWithStore = async (
  config: Config,
  folder: DataFolder,
  run: (store: Store) => Promise<number>,
): Promise<number> => {
  const store = await openExistingStore(config, folder)
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

const note = async (config: Config, verb: string, commandArguments: readonly string[]): Promise<void> => {
  await runWithStore(config, dataFolderAt(config.dataDir), async (store) => {
    await noteCommand(store, verb, commandArguments, userName())
    return 0
  })
}

/** An organization is one transaction, however much it has. */
const ROTATION_LIMIT_MS = 3_600_000

const rotateKeyAlone = async (config: Config, folder: DataFolder, newKeyFile: string | null) => {
  // A service keeps keys in memory, and would go on wrapping with the old ones.
  const lock = lockFolder(folder.lock, folder.root)
  try {
    const store = await openExistingStore(config, folder, { transactionLimitMs: ROTATION_LIMIT_MS })
    try {
      // The lock is of this node's folder; other nodes keep the keys in memory as well.
      const users = await findUsers(store.database, { wait: Bun.sleep })
      if (users.length > 0) throw new StoreUnusableError(`stop every node first: ${users.join(', ')} uses the store`)
      const { rotateEvidenceKey } = await import('../setup/evidence-key.ts')
      return await rotateEvidenceKey({ config, folder, store, newKeyFile })
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

const runVerb = async (verb: string, commandArguments: string[], config: Config): Promise<number> => {
  const folder = dataFolderAt(config.dataDir)
  const open = (): Promise<Store> => openExistingStore(config, folder)
  const openKeys = async (store: Store) =>
    (await import('../setup/evidence-key.ts')).prepareOrganizationKeys(config, folder, store)
  // Each verb brings its own code: loading all of it takes longer than most commands do.
  switch (verb) {
    case 'keys':
      return runWithStore(config, folder, async (store) =>
        (await import('./keys.ts')).runKeys(commandArguments, { store, clock: systemClock, ...output }),
      )
    case 'org':
      return (await import('./org.ts')).runOrg(commandArguments, { output, openStore: open })
    case 'session':
      return (await import('./session.ts')).runSession(commandArguments, { output, openStore: open, user: userName() })
    case 'evidence':
      return (await import('./evidence.ts')).runEvidence(commandArguments, {
        output,
        openStore: open,
        openEvidence: async (store) => {
          const { createEvidenceParts } = await import('../wiring/evidence-service.ts')
          return createEvidenceParts({
            store,
            keys: await openKeys(store),
            folder: folder.evidence,
            log: createLogger({ level: config.logLevel }),
          })
        },
        rotateKey: (newKeyFile) => rotateKeyAlone(config, folder, newKeyFile),
        user: userName(),
      })
    case 'webhook':
      return (await import('./webhook.ts')).runWebhook(commandArguments, {
        output,
        openStore: open,
        openKeys,
        reach: config.webhookReach,
        nowSeconds: systemClock.unixSeconds,
      })
    case 'lists':
      return (await import('./lists.ts')).runLists(commandArguments, {
        output,
        openStore: open,
        clock: systemClock,
        user: userName(),
      })
    case 'screener-stub':
      return (await import('./screener-stub.ts')).runScreenerStub(commandArguments, { output, stopped: untilSignal })
    case 'geo':
      return (await import('./geo.ts')).runGeo(commandArguments, {
        output,
        geoipFile: config.geoipFile,
        clock: systemClock,
      })
    case 'attester':
      return (await import('./attester.ts')).runAttester(commandArguments, {
        output,
        folder,
        passphrase: () => locatePassphrase(config, folder, false),
        openStore: open,
      })
    case 'policy':
      return (await import('./policy.ts')).runPolicy(commandArguments, {
        output,
        openStore: open,
        decisionsDirectory: folder.decisions,
        chains: config.chains,
        clock: systemClock,
        isTerminal: process.stderr.isTTY === true,
      })
    case 'project':
      return (await import('./project.ts')).runProject(commandArguments, {
        output,
        chains: config.chains,
        openStore: open,
      })
    case 'decisions':
      return (await import('./decisions.ts')).runDecisions(commandArguments, {
        dataDirectory: config.dataDir,
        ...output,
        shipEveryMs: config.decisionsShipIntervalSeconds * 1_000,
        openTarget: (named) => shipTargetOf(config, named),
      })
    case 'backup':
      return (await import('./backup.ts')).runBackup(commandArguments, {
        ...{ output, folder, configFile: configFileOf() },
        locateStore: () => locateStore(config, folder),
        describeSettings: describeGivenSettings,
        note: () => note(config, verb, commandArguments),
        now: () => new Date(),
      })
    case 'restore':
      return (await import('./restore.ts')).runRestore(commandArguments, {
        ...{ output, folder, monotonicMs: systemClock.monotonicMs },
        locateStore: () => locateStore(config, folder),
      })
    case 'migrate':
      return (await import('./migrate.ts')).runMigrate(commandArguments, {
        ...{ output, dataDirectory: config.dataDir, environment: process.env },
        ...{ monotonicMs: systemClock.monotonicMs, wait: (milliseconds) => Bun.sleep(milliseconds) },
      })
    case 'audit':
      return (await import('./audit.ts')).runAudit(commandArguments, { output, openStore: open })
    case 'doctor':
      return (await import('./doctor.ts')).runDoctor(commandArguments, {
        output,
        config,
        clock: systemClock,
        openStore: open,
      })
    default:
      output.stderr(`unknown verb ${verb}\n${USAGE}`)
      return 2
  }
}

const main = async (commandLine: readonly string[]): Promise<number> => {
  const [verb, ...rest] = commandLine
  if (verb === undefined || verb === '--help' || verb === '-h') {
    output.stdout(USAGE)
    return verb === undefined ? 2 : 0
  }
  if (verb === 'settings') {
    output.stdout(`${describeSettings()}\n`)
    return 0
  }
  try {
    const { settings, others } = splitSettingFlags(rest)
    const config = loadConfig({ arguments: settings, environment: process.env })
    const code = await runVerb(verb, others, config)
    if (code === 0 && isNoted(verb, others)) {
      await note(config, verb, others)
    }
    return code
  } catch (error) {
    if (error instanceof SettingInvalidError) {
      output.stderr(`${error.message}\n`)
      return 2
    }
    if (error instanceof StoreUnusableError || error instanceof CountersignError) {
      output.stderr(`${error.detail}\n`)
      return 1
    }
    throw error
  }
}

process.exitCode = await main(process.argv.slice(2))
