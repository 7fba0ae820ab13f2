// `countersign doctor`: checks the chains with their registries and attesters, then the machine, listeners and store.
// RPC URLs are printed as hosts, because their paths may contain keys.

import { existsSync } from 'node:fs'
import { type CommandOutput, formatTable, parseCommand, UsageError } from '../../command-line/output.ts'
import { runToExitCode } from '../../command-line/print-error.ts'
import type { Config } from '../../config/config.ts'
import { SettingInvalidError } from '../../config/settings.ts'
import type { FindService } from '../../lib/service-key.ts'
import type { Clock } from '../../lib/time.ts'
import { runningModules } from '../../module-interface/open-modules.ts'
import { MODULES } from '../../modules.ts'
import { PROGRAM } from '../../program/labels.ts'
import { inspectCertificateTerms } from '../../setup/certificate-term.ts'
import { type ChainCheck, inspectChains } from '../../setup/chain-inspection.ts'
import type { DataFolder } from '../../setup/data-folder.ts'
import { inspectExpiryUnit } from '../../setup/expiry-unit.ts'
import { inspectExposure } from '../../setup/exposure.ts'
import { inspectSources } from '../../setup/fact-sources.ts'
import { type Finding, inspectTokenKeys } from '../../setup/finding.ts'
import { storeMayExist } from '../../setup/store-location.ts'
import { readListenerTls } from '../../setup/tls-files.ts'
import { isTokenKey } from '../../signing/token-key.ts'
import { ASK_TOKEN } from '../../signing/token-service.ts'
import { StoreUnusableError } from '../../store/errors.ts'
import type { Attester } from '../../store/organizations/attesters.ts'
import type { TokenAttester } from '../../store/sqlite/sqlite-snapshot.ts'
import type { Store } from '../../store/store.ts'
import type { StoreTarget } from '../../store/store-address.ts'
import { inspectKeys } from './doctor-keys.ts'
import { inspectMachine } from './doctor-machine.ts'
import { inspectStore } from './doctor-store.ts'

const USAGE = `Usage: ${PROGRAM} doctor [--chain CHAIN]

Checks each chain with an RPC URL: whether every URL responds and serves the chain, how far its latest block is from this
machine's clock, and whether a configured registry exists and contains the attesters. Then it checks the following, with a
suggestion for each finding:

  folder, access   The data folder: whether it exists, and the owners and modes of the folder and its secrets
  disk, signer     Free space on the disks, and the library that signs attestations
  secret, keystore Whether the evidence key, account key and passphrase are present, and the passphrase opens each keystore
  token            Whether attester keys in the hardware token sign, and cannot be extracted
  store, clock     Whether the store opens, and how far the database's clock is from this machine's
  listener, store  Unencrypted traffic: listeners that other machines can reach, and the connection to the store
  certificate      Certificates of listeners that have expired or expire within 14 days
  project          Projects whose policy has no active revision
  source           Policies in use that read a screener, chain or geography file that the service lacks
  list, geography  Lists not confirmed by their source for two days, and a geography file older than 45 days
  backup           Whether the audit log contains a backup within the last two days
  scanner          Whether documents are scanned
  expiry           Chains whose v1 tasks expire in Unix seconds because they have no RPC URL
  witness          Witnesses that have not cosigned the decision log in time

  --chain CHAIN  Check only this chain
  --json         Print JSON
  --help         Print this help

Exit codes: 0 no problem, 1 a problem was found, 2 invalid arguments.
`

interface DoctorCommandInput {
  readonly output: CommandOutput
  readonly config: Config
  readonly folder: DataFolder
  readonly clock: Clock
  readonly findService: FindService
  readonly openStore: () => Promise<Store>
  readonly locateStore: () => Promise<StoreTarget>
}

const readAttesters = async (openStore: DoctorCommandInput['openStore']): Promise<readonly Attester[]> => {
  const store = await openStore()
  try {
    return await store.attesters.list()
  } finally {
    await store.close()
  }
}

const tokenAttestersOf = async ({ attesters }: Store): Promise<readonly TokenAttester[]> =>
  (await attesters.list()).flatMap(({ kind, address, keystoreFile: key, status }) =>
    status === 'active' && isTokenKey(key) ? [{ kind, address, key }] : [],
  )

const inspectScanner = ({ config }: DoctorCommandInput): Finding[] => {
  if (config.scanner !== null) return []
  const detail = 'submitted documents are not scanned for malware: set scanner to the address of clamd'
  return [{ check: 'scanner', subject: 'scanner', result: 'note', detail }]
}

const inspectCertificates = ({ config, clock }: DoctorCommandInput): readonly Finding[] => {
  try {
    return inspectCertificateTerms(readListenerTls(config), clock.unixSeconds())
  } catch (error) {
    if (!(error instanceof SettingInvalidError)) throw error
    return [{ check: 'listener', subject: 'tls-certificate', result: 'problem', detail: error.message }]
  }
}

const inspectDeployment = async (input: DoctorCommandInput): Promise<readonly Finding[]> => {
  const { config, folder, clock } = input
  const target = await input.locateStore()
  const findings = [
    ...inspectMachine(folder, config),
    ...inspectCertificates(input),
    ...inspectExposure(config, target),
    ...inspectScanner(input),
    ...(config.serve.has('attestation') ? inspectExpiryUnit(config) : []),
  ]
  if (!storeMayExist(target)) {
    // The missing folder is already reported.
    if (!existsSync(folder.root)) return findings
    const detail = 'no deployment in this data folder: start the service to create one, or set --data-dir'
    return [{ check: 'store', subject: 'store', result: 'note', detail }, ...findings]
  }
  try {
    const store = await input.openStore()
    try {
      const ofModules = await Promise.all(
        runningModules(MODULES, config).map(({ inspect }) => inspect?.({ config, folder, store, target, clock }) ?? []),
      )
      const token = config.serve.has('attestation')
        ? await inspectTokenKeys(await tokenAttestersOf(store), input.findService(ASK_TOKEN))
        : []
      const sources = await inspectSources(store, config)
      const keys = await inspectKeys(config, folder, store)
      const ofStore = await inspectStore(store, clock, config.geoipFile)
      return [...ofStore, ...sources, ...keys, ...token, ...ofModules.flat(), ...findings]
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof StoreUnusableError)) throw error
    return [{ check: 'store', subject: 'store', result: 'problem', detail: error.detail }, ...findings]
  }
}

const print = (output: CommandOutput, checks: readonly ChainCheck[], exposure: readonly Finding[]): void => {
  if (checks.length === 0) output.stdout('no chain has an RPC URL, so no chain is checked\n')
  const rows = [
    ...checks.map(({ chain, check, result, subject, detail }) => [chain, check, result, subject, detail]),
    ...exposure.map(({ check, result, subject, detail }) => ['-', check, result, subject, detail]),
  ]
  if (rows.length > 0) output.stdout(formatTable([['CHAIN', 'CHECK', 'RESULT', 'SUBJECT', 'DETAIL'], ...rows]))
}

export const runDoctor = (commandArguments: readonly string[], input: DoctorCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, {
      chain: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('doctor accepts only options')
    const only = command.text('chain')
    const chain = only === undefined ? undefined : input.config.chains.byName(only)
    if (only !== undefined && chain === undefined) throw new UsageError(`unknown chain ${only}`)
    const checks = await inspectChains({
      chains: input.config.chains,
      chainSettings: input.config.chainSettings,
      only: chain?.name,
      readAttesters: () => readAttesters(input.openStore),
      nowSeconds: input.clock.unixSeconds,
    })
    const exposure = only === undefined ? await inspectDeployment(input) : []
    const ok = ![...checks, ...exposure].some(({ result }) => result === 'problem')
    if (command.flag('json')) input.output.stdout(`${JSON.stringify({ ok, checks, exposure })}\n`)
    else print(input.output, checks, exposure)
    return ok ? 0 : 1
  })
