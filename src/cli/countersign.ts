#!/usr/bin/env bun
import { join } from 'node:path'
import { SecondPersonNeededError } from '../admin/errors.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { describeSettings, SettingInvalidError } from '../config/settings.ts'
import { openShipTarget, ShipAccessMissingError } from '../decisions/ship-access.ts'
import type { ShipPlace, ShipTarget } from '../decisions/ship-target.ts'
import { CountersignError } from '../domain/errors.ts'
import { type Clock, systemClock } from '../domain/time.ts'
import { listenUrl } from '../http/listen-address.ts'
import { type DataFolder, dataFolderAt } from '../setup/data-folder.ts'
import { readLogKey } from '../setup/log-key.ts'
import { locatePassphrase } from '../setup/passphrase.ts'
import { locateStore, storeMayExist } from '../setup/store-location.ts'
import { StoreUnreachableError, StoreUnusableError } from '../store/errors.ts'
import { explainFileProblem } from '../store/file-problem.ts'
// `bun run countersign VERB …`: finds the verb, gives it what it needs, and exits with its code:
// 0 done, 1 a problem was found or it can't be done, 2 the call or a setting is wrong, 3 a second person has to approve it.
import { lockFolder } from '../store/folder-lock.ts'
import { findUsers } from '../store/in-use.ts'
import type { Store } from '../store/store.ts'
import { createLogger } from '../telemetry/log.ts'
import type { EvidenceParts } from '../wiring/evidence-service.ts'
import { bucketAccessOf, foreignSessionToken } from '../wiring/ship-service.ts'
import { openBackupBucket } from './backup-place.ts'
import { isNoted, noteCommand } from './command-note.ts'
import type { Opened } from './door.ts'
import { configFileOf, describeGivenSettings } from './given-settings.ts'
import { openDoor } from './open-door.ts'
import { operatingUser } from './operating-user.ts'
import { CommandFailedError, type CommandOutput, UsageError } from './output.ts'
import { NEEDS_SECOND_PERSON, type Override, REFUSAL, splitOverride } from './second-person.ts'
import { splitSettingFlags } from './setting-flags.ts'

const USAGE = `Usage: bun run countersign VERB [--data-dir FOLDER] [--config FILE] …

  org         list and create organizations, and set their level
  account     let somebody back in who lost password or second factor
  keys        issue, list, regenerate and revoke API keys
  attester    add, import, list and retire the keys that sign
  account-key seal one-time codes' secrets with another key
  policy      check, test, save, activate, shadow and replay policies
  project     list, create, change and bind projects
  lists       make, fill, export and refresh lists of addresses
  geo         look an IP address up as policies see it
  screener-stub  answer as a screener would, for trials
  session     list, show and decide identity sessions
  evidence    show, save and erase what people handed in, and say how long it stays
  webhook     say who is told of sessions, and see what became of each message
  decisions   follow, verify, prove and ship the decision log
  proof       check the proof of a decision offline, and print the log's key
  witness     follow another deployment's log and cosign its heads
  backup      copy the deployment to a folder while the service runs
  restore     make a deployment from a backup
  migrate     copy a database into another, SQLite or PostgreSQL
  audit       show who changed what, and verify that record
  doctor      check chains, registries and attesters there, the machine, the store and backups, and say what to do
  solana      say what to run so that a Solana cluster has a registry of your own
  sbom        print the software bill of materials (CycloneDX)
  settings    list every setting of the service with its default

VERB --help says more. Changes are live in a running service within a second.

Where an organization, or the deployment, asks for a second person, a verb that changes who gets signed for ends with 3 and
changes nothing. --override-second-person --reason TEXT does it all the same; the audit log and the dashboard show both.
`

/** Where a command runs: what it prints to, whose settings it reads, and who runs it. */
export interface CommandPlace {
  readonly output: CommandOutput
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Name of the operating system's user. */
  readonly user: string
}

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

const untilStopped = (): AbortSignal => {
  const controller = new AbortController()
  void untilSignal().then(() => controller.abort())
  return controller.signal
}

/** Those of this command that name secrets, as another process takes them. */
const secretSettingsOf = ({ passphrase, evidenceKey, accountKey }: Config): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ PASSPHRASE: passphrase, EVIDENCE_KEY: evidenceKey, ACCOUNT_KEY: accountKey }).flatMap(
      ([name, source]) => {
        if (source === null) return []
        if (source.source === 'file') return [[`COUNTERSIGN_${name}_FILE`, source.path]]
        return [[`COUNTERSIGN_${name}`, process.env[source.name] ?? '']]
      },
    ),
  )

/** Another command, with these settings alone: returns what it prints. @throws CommandFailedError */
const runWithin =
  (place: CommandPlace) =>
  async (environment: CommandPlace['environment'], ...words: readonly string[]): Promise<string> => {
    let stdout = ''
    let stderr = ''
    const output: CommandOutput = {
      stdout: (text) => {
        stdout += text
      },
      stderr: (text) => {
        stderr += text
      },
    }
    const code = await runCountersign(words, { ...place, environment, output })
    if (code === 0) return stdout
    throw new CommandFailedError(`countersign ${words.slice(0, 2).join(' ')}: ${stderr === '' ? stdout : stderr}`)
  }

const shipTargetOf = (config: Config, named: ShipPlace | null): ShipTarget => {
  const place = named ?? config.decisionsShip
  if (place === null) throw new CommandFailedError('say where to, or set COUNTERSIGN_DECISIONS_SHIP')
  try {
    const access = bucketAccessOf(config, place)
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

/** Opens what a start of the service made; a mistyped folder must not become a new, empty deployment. */
const openExistingStore = async (config: Config, folder: DataFolder, clock: Clock): Promise<Store> => {
  const target = await locateStore(config, folder)
  if (!storeMayExist(target)) {
    throw new StoreUnusableError(`there is no deployment in ${folder.root}: start the service once, or set --data-dir`)
  }
  const { openStore } = await import('../store/store.ts')
  return openStore({ target, clock, onlyExisting: true })
}

const runWithStore = async (
  config: Config,
  folder: DataFolder,
  clock: Clock,
  run: (store: Store) => Promise<number>,
): Promise<number> => {
  const store = await openExistingStore(config, folder, clock)
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

const note = async (
  config: Config,
  { clock, user }: CommandPlace,
  verb: string,
  commandArguments: readonly string[],
): Promise<void> => {
  await runWithStore(config, dataFolderAt(config.dataDir), clock, async (store) => {
    await noteCommand(store, verb, commandArguments, user)
    return 0
  })
}

/** One rotation of a secret at a time: two would each make the next key. */
const rotateAlone = async <Result>(folder: DataFolder, work: () => Promise<Result>): Promise<Result> => {
  const held = `another rotation runs on ${folder.root}: wait until it has ended`
  const lock = lockFolder(join(folder.root, 'rotation.lock'), folder.root, held)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

const rotateKey = async (config: Config, folder: DataFolder, clock: Clock) => {
  const store = await openExistingStore(config, folder, clock)
  try {
    const { rotateEvidenceKey } = await import('../setup/evidence-key.ts')
    return await rotateAlone(folder, () => rotateEvidenceKey({ config, folder, store, wait: Bun.sleep }))
  } finally {
    await store.close()
  }
}

/** Runs `work` where nothing else uses the data folder or the store. */
const runAlone = async <Result>(
  config: Config,
  folder: DataFolder,
  work: (store: Store) => Promise<Result>,
): Promise<Result> => {
  const lock = lockFolder(folder.lock, folder.root)
  try {
    const store = await openExistingStore(config, folder, systemClock)
    try {
      // The lock is of this node's folder: other nodes have their own.
      const users = await findUsers(store.database, { wait: Bun.sleep })
      if (users.length > 0) throw new StoreUnusableError(`stop every node first: ${users.join(', ')} uses the store`)
      return await work(store)
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

const beginTreeAlone = (config: Config, folder: DataFolder) =>
  runAlone(config, folder, async (store) => {
    const { beginTree } = await import('../wiring/begin-tree.ts')
    const passphrase = locatePassphrase(config, folder, false)
    return beginTree({ folder, store, target: await locateStore(config, folder), passphrase, now: new Date() })
  })

const runVerb = async (
  verb: string,
  commandArguments: string[],
  config: Config,
  place: CommandPlace,
  override: Override | null,
): Promise<number> => {
  const { output, clock, user } = place
  const folder = dataFolderAt(config.dataDir)
  const open = (): Promise<Store> => openExistingStore(config, folder, clock)
  const openKeys = async (store: Store) =>
    (await import('../setup/evidence-key.ts')).prepareOrganizationKeys(config, folder, store)
  const openEvidence = async (store: Store): Promise<EvidenceParts> => {
    const { createEvidenceParts } = await import('../wiring/evidence-service.ts')
    return createEvidenceParts({
      store,
      keys: await openKeys(store),
      folder: folder.evidence,
      log: createLogger({ level: config.logLevel }),
    })
  }
  /** The store with the door to the operations over it. */
  const openAll = async (): Promise<Opened> => {
    const store = await open()
    return openDoor({
      config,
      folder,
      store,
      clock,
      user,
      override,
      openKeys: () => openKeys(store),
      openEvidence: () => openEvidence(store),
    })
  }
  // Each verb brings its own code: loading all of it takes longer than most commands do.
  switch (verb) {
    case 'keys':
      return (await import('./keys.ts')).runKeys(commandArguments, {
        clock,
        ...output,
        open: openAll,
      })
    case 'org':
      return (await import('./org.ts')).runOrg(commandArguments, { output, open: openAll })
    case 'account':
      return (await import('./account.ts')).runAccount(commandArguments, {
        output,
        openStore: open,
        clock,
        dashboardUrl: new URL(
          config.dashboardUrl === ''
            ? listenUrl(config.dashboardListen, config.tlsCertificate.dashboard !== '')
            : config.dashboardUrl,
        ).origin,
        user,
      })
    case 'session':
      return (await import('./session.ts')).runSession(commandArguments, {
        output,
        open: openAll,
        user,
      })
    case 'evidence':
      return (await import('./evidence.ts')).runEvidence(commandArguments, {
        output,
        open: openAll,
        rotateKey: () => rotateKey(config, folder, clock),
        user,
      })
    case 'webhook':
      return (await import('./webhook.ts')).runWebhook(commandArguments, { output, open: openAll })
    case 'lists':
      return (await import('./lists.ts')).runLists(commandArguments, {
        output,
        open: openAll,
        clock,
        user,
      })
    case 'screener-stub':
      return (await import('./screener-stub.ts')).runScreenerStub(commandArguments, { output, stopped: untilSignal })
    case 'geo':
      return (await import('./geo.ts')).runGeo(commandArguments, {
        output,
        geoipFile: config.geoipFile,
        clock,
      })
    case 'attester':
      return (await import('./attester.ts')).runAttester(commandArguments, {
        output,
        folder,
        passphrase: () => locatePassphrase(config, folder, false),
        open: openAll,
        rotatePassphrase: async () => {
          const { rotatePassphrase } = await import('../setup/rotate-passphrase.ts')
          return rotateAlone(folder, () => rotatePassphrase({ config, folder }))
        },
      })
    case 'account-key':
      return (await import('./account-key.ts')).runAccountKey(commandArguments, {
        output,
        openStore: open,
        rotate: async (store) => {
          const { rotateAccountKey } = await import('../wiring/account-key-rotation.ts')
          return rotateAlone(folder, () => rotateAccountKey({ config, folder, store }))
        },
      })
    case 'policy':
      return (await import('./policy.ts')).runPolicy(commandArguments, {
        output,
        open: openAll,
        decisionsDirectory: folder.decisions,
        chains: config.chains,
        clock,
        isTerminal: process.stderr.isTTY === true,
      })
    case 'project':
      return (await import('./project.ts')).runProject(commandArguments, {
        output,
        chains: config.chains,
        open: openAll,
      })
    case 'decisions':
      return (await import('./decisions.ts')).runDecisions(commandArguments, {
        dataDirectory: config.dataDir,
        ...output,
        shipEveryMs: config.decisionsShipIntervalSeconds * 1_000,
        openTarget: (named) => shipTargetOf(config, named),
        beginTree: () => beginTreeAlone(config, folder),
        openTree: async () =>
          (await import('./decisions-tree.ts')).openTreeForCommand(open, {
            folder,
            target: await locateStore(config, folder),
            shipTarget: config.decisionsShip === null ? null : () => shipTargetOf(config, null),
          }),
      })
    case 'proof':
      return (await import('./proof.ts')).runProof(commandArguments, {
        output,
        readKey: async () => {
          const store = await open()
          try {
            return await readLogKey(store.deployment, folder)
          } finally {
            await store.close()
          }
        },
      })
    case 'witness':
      return (await import('./witness.ts')).runWitness(commandArguments, {
        output,
        unixSeconds: clock.unixSeconds,
        signal: untilStopped(),
      })
    case 'backup':
      return (await import('./backup.ts')).runBackup(commandArguments, {
        output,
        folder,
        configFile: configFileOf(),
        locateStore: () => locateStore(config, folder),
        describeSettings: describeGivenSettings,
        openBucket: (bucket) => openBackupBucket(shipTargetOf(config, bucket)),
        note: () => note(config, place, verb, commandArguments),
        now: () => new Date(),
        stopped: untilStopped,
      })
    case 'restore':
      return (await import('./restore.ts')).runRestore(commandArguments, {
        output,
        folder,
        monotonicMs: clock.monotonicMs,
        locateStore: () => locateStore(config, folder),
        openBucket: (bucket) => openBackupBucket(shipTargetOf(config, bucket)),
        trial: () => ({
          secretSettings: secretSettingsOf(config),
          signal: untilStopped(),
          run: runWithin(place),
        }),
      })
    case 'migrate':
      return (await import('./migrate.ts')).runMigrate(commandArguments, {
        output,
        dataDirectory: config.dataDir,
        environment: process.env,
        monotonicMs: clock.monotonicMs,
        wait: (milliseconds) => Bun.sleep(milliseconds),
      })
    case 'audit':
      return (await import('./audit.ts')).runAudit(commandArguments, {
        output,
        keptHeadProblems: async (store) =>
          (await import('../wiring/audit-head.ts')).keptHeadProblems(store, folder, await locateStore(config, folder)),
        openStore: open,
        openTarget: (named) => shipTargetOf(config, named),
      })
    case 'solana':
      return (await import('./solana.ts')).runSolana(commandArguments, {
        output,
        openStore: open,
        settings: config.chainSettings.get('solana'),
      })
    case 'doctor':
      return (await import('./doctor.ts')).runDoctor(commandArguments, {
        output,
        config,
        folder,
        clock,
        openStore: open,
        locateStore: () => locateStore(config, folder),
      })
    default:
      output.stderr(`unknown verb ${verb}\n${USAGE}`)
      return 2
  }
}

/** @param commandLine what follows the program's name. Answers the exit code; throws what is a fault of ours. */
export const runCountersign = async (commandLine: readonly string[], place: CommandPlace): Promise<number> => {
  const { output, environment } = place
  const [verb, ...rest] = commandLine
  if (verb === undefined || verb === '--help' || verb === '-h') {
    output.stdout(USAGE)
    return verb === undefined ? 2 : 0
  }
  if (verb === 'settings') {
    output.stdout(`${describeSettings()}\n`)
    return 0
  }
  if (verb === 'sbom') return (await import('./sbom.ts')).runSbom(rest, output)
  try {
    const { settings, others } = splitSettingFlags(rest)
    const config = loadConfig({ arguments: settings, environment })
    const { others: given, override } = splitOverride(others)
    const code = await runVerb(verb, given, config, place, override)
    if (code === 0 && isNoted(verb, given)) await note(config, place, verb, given)
    return code
  } catch (error) {
    if (error instanceof SecondPersonNeededError) {
      output.stderr(REFUSAL)
      return NEEDS_SECOND_PERSON
    }
    if (error instanceof SettingInvalidError || error instanceof UsageError) {
      output.stderr(`${error.message}\n`)
      return 2
    }
    if (error instanceof StoreUnreachableError || error instanceof StoreUnusableError) {
      output.stderr(`${error instanceof StoreUnreachableError ? error.reason : error.detail}\n`)
      return 1
    }
    const fileProblem = explainFileProblem(error)
    if (fileProblem !== null || error instanceof CountersignError) {
      output.stderr(`${fileProblem ?? (error as CountersignError).detail}\n`)
      return 1
    }
    throw error
  }
}

if (import.meta.main) {
  process.exitCode = await runCountersign(process.argv.slice(2), {
    output: {
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
    },
    environment: process.env,
    clock: systemClock,
    user: operatingUser(),
  })
}
