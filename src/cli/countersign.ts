#!/usr/bin/env bun
// `bun run countersign VERB …`: finds the verb, gives it what it needs, and exits with its code:
// 0 done, 1 a problem was found or it can't be done, 2 the call or a setting is wrong.
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { type Config, loadConfig } from '../config.ts'
import { type DataFolder, dataFolderAt } from '../data-folder.ts'
import { CountersignError } from '../domain/errors.ts'
import { systemClock } from '../domain/time.ts'
import { prepareOrganizationKeys, rotateEvidenceKey } from '../evidence-key.ts'
import { createEvidenceParts } from '../evidence-service.ts'
import { locatePassphrase } from '../passphrase.ts'
import { describeSettings, SettingInvalidError } from '../settings.ts'
import { StoreUnusableError } from '../store/errors.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { openStore, type Store } from '../store/store.ts'
import { createLogger } from '../telemetry/log.ts'
import { runAttester } from './attester.ts'
import { runAudit } from './audit.ts'
import { isNoted, noteCommand } from './command-note.ts'
import { runDecisions } from './decisions.ts'
import { runDoctor } from './doctor.ts'
import { runEvidence } from './evidence.ts'
import { runGeo } from './geo.ts'
import { runKeys } from './keys.ts'
import { runLists } from './lists.ts'
import { runOrg } from './org.ts'
import type { CommandOutput } from './output.ts'
import { runPolicy } from './policy.ts'
import { runProject } from './project.ts'
import { runScreenerStub } from './screener-stub.ts'
import { runSession } from './session.ts'
import { splitSettingFlags } from './setting-flags.ts'
import { runWebhook } from './webhook.ts'

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
  decisions   follow and verify the decision log
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

/** Opens what a start of the service made; a mistyped folder must not become a new, empty deployment. */
const openExistingStore = async (
  folder: DataFolder,
  options: { readonly transactionLimitMs?: number } = {},
): Promise<Store> => {
  if (!existsSync(folder.database)) {
    throw new StoreUnusableError(`there is no deployment in ${folder.root}: start the service once, or set --data-dir`)
  }
  return openStore({ path: folder.database, clock: systemClock, ...options })
}

const runWithStore = async (folder: DataFolder, run: (store: Store) => Promise<number>): Promise<number> => {
  const store = await openExistingStore(folder)
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

/** An organization is one transaction, however much it has. */
const ROTATION_LIMIT_MS = 3_600_000

const rotateKeyAlone = async (config: Config, folder: DataFolder, newKeyFile: string | null) => {
  // A service keeps keys in memory, and would go on wrapping with the old ones.
  const lock = lockFolder(folder.lock, folder.root)
  try {
    const store = await openExistingStore(folder, { transactionLimitMs: ROTATION_LIMIT_MS })
    try {
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
  const open = (): Promise<Store> => openExistingStore(folder)
  switch (verb) {
    case 'keys':
      return runWithStore(folder, (store) => runKeys(commandArguments, { store, clock: systemClock, ...output }))
    case 'org':
      return runOrg(commandArguments, { output, openStore: open })
    case 'session':
      return runSession(commandArguments, { output, openStore: open, user: userName() })
    case 'evidence':
      return runEvidence(commandArguments, {
        output,
        openStore: open,
        openEvidence: async (store) =>
          createEvidenceParts({
            store,
            keys: await prepareOrganizationKeys(config, folder, store),
            folder: folder.evidence,
            log: createLogger({ level: config.logLevel }),
          }),
        rotateKey: (newKeyFile) => rotateKeyAlone(config, folder, newKeyFile),
        user: userName(),
      })
    case 'webhook':
      return runWebhook(commandArguments, {
        output,
        openStore: open,
        openKeys: (store) => prepareOrganizationKeys(config, folder, store),
        reach: config.webhookReach,
        nowSeconds: systemClock.unixSeconds,
      })
    case 'lists':
      return runLists(commandArguments, { output, openStore: open, clock: systemClock, user: userName() })
    case 'screener-stub':
      return runScreenerStub(commandArguments, { output, stopped: untilSignal })
    case 'geo':
      return runGeo(commandArguments, { output, geoipFile: config.geoipFile, clock: systemClock })
    case 'attester':
      return runAttester(commandArguments, {
        output,
        folder,
        passphrase: () => locatePassphrase(config, folder, false),
        openStore: open,
      })
    case 'policy':
      return runPolicy(commandArguments, {
        output,
        openStore: open,
        decisionsDirectory: folder.decisions,
        chains: config.chains,
        clock: systemClock,
        isTerminal: process.stderr.isTTY === true,
      })
    case 'project':
      return runProject(commandArguments, { output, chains: config.chains, openStore: open })
    case 'decisions':
      return runDecisions(commandArguments, { dataDirectory: config.dataDir, ...output })
    case 'audit':
      return runAudit(commandArguments, { output, openStore: open })
    case 'doctor':
      return runDoctor(commandArguments, { output, config, clock: systemClock, openStore: open })
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
      await runWithStore(dataFolderAt(config.dataDir), async (store) => {
        await noteCommand(store, verb, others, userName())
        return 0
      })
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
