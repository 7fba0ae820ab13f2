// Checks the chains against the configuration: RPC URLs, chain ids, clocks, registry code, attesters.
import type { ChainSettings } from '../config/chain-settings.ts'
import type { Chain, ChainTable } from '../domain/chain.ts'
import { failureReason } from '../facts/failure-reason.ts'
import { createJsonRpc, type JsonRpc } from '../facts/json-rpc.ts'
import type { ChainRegistry } from '../facts/registry.ts'
import { PROGRAM } from '../program/labels.ts'
import type { Attester, AttesterKind } from '../store/organizations/attesters.ts'
import { REGISTRY_TIMEOUT_MS, registryOf, rpcHost } from './configured-registries.ts'

export type CheckName = 'rpc' | 'clock' | 'registry' | 'attester'

export interface ChainCheck {
  readonly chain: string
  readonly check: CheckName
  /** Host of an RPC URL, or address of the registry or an attester. */
  readonly subject: string
  /** `problem`: attestations fail or can't be created. `note`: information only. */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}

interface InspectionInput {
  readonly chain: Chain
  readonly settings: ChainSettings
  readonly attesters: readonly Attester[]
  readonly nowSeconds: () => number
  readonly connect?: (url: string) => JsonRpc
}

/** If a block is further in the future, this machine's clock is slow, and signatures expire too early. */
const AHEAD_MAX_SECONDS = 15
/** If the latest block is older, the node is behind or idle, or this machine's clock is fast. */
const BEHIND_MAX_SECONDS = 300

const KINDS: Readonly<Record<Chain['family'], AttesterKind>> = { evm: 'secp256k1', solana: 'ed25519' }

type Report = (check: CheckName, subject: string, result: ChainCheck['result'], detail: string) => void

const inspectRpc = async (
  { nowSeconds, connect = (url) => createJsonRpc({ url, timeoutMs: REGISTRY_TIMEOUT_MS }) }: InspectionInput,
  registry: ChainRegistry,
  url: string,
  report: Report,
): Promise<JsonRpc | null> => {
  const host = rpcHost(url)
  const rpc = connect(url)
  try {
    await registry.verify(rpc)
    report('rpc', host, 'ok', 'responds and serves the chain')
  } catch (error) {
    report('rpc', host, 'problem', `${failureReason(error)}: correct rpc under chains, or use another URL`)
    return null
  }
  try {
    const behind = nowSeconds() - (await registry.latestBlockSeconds(rpc))
    const text = `the latest block is ${Math.abs(behind)} s ${behind < 0 ? 'ahead' : 'old'}`
    if (behind < -AHEAD_MAX_SECONDS)
      report('clock', host, 'problem', `${text}: synchronize this machine’s clock with NTP`)
    else if (behind > BEHIND_MAX_SECONDS) {
      report('clock', host, 'note', `${text}: the node is behind or idle, or this machine’s clock is ahead`)
    } else report('clock', host, 'ok', text)
  } catch (error) {
    report('clock', host, 'problem', failureReason(error))
  }
  return rpc
}

const inspectAttester = async (
  registry: ChainRegistry,
  rpc: JsonRpc,
  { address, status }: Attester,
  report: Report,
): Promise<void> => {
  const isRegistered = await registry.isAttesterRegistered(rpc, address)
  if (status === 'retired') {
    if (isRegistered) report('attester', address, 'note', 'retired here but still registered: deregister it')
  } else if (isRegistered) report('attester', address, 'ok', `${status}, registered`)
  else if (status === 'active')
    report(
      'attester',
      address,
      'problem',
      'active but not registered, so the chain refuses it: ask the registry’s owner to register it',
    )
  else
    report(
      'attester',
      address,
      'note',
      'retiring but not registered: the chain refuses attestations that it signed earlier',
    )
}

const inspectRegistry = async (
  { chain, settings, attesters }: InspectionInput,
  registry: ChainRegistry,
  rpc: JsonRpc,
  report: Report,
): Promise<void> => {
  const subject = settings.registry ?? ''
  if (!(await registry.isDeployed(rpc))) {
    report(
      'registry',
      subject,
      'problem',
      'there is no code at this address: correct registry under chains, or deploy a registry',
    )
    return
  }
  report('registry', subject, 'ok', 'has code')
  const ours = attesters.filter(({ kind }) => kind === KINDS[chain.family])
  if (!ours.some(({ status }) => status === 'active')) {
    report(
      'attester',
      subject,
      'problem',
      `no active attester of kind ${KINDS[chain.family]}: ${PROGRAM} attester create`,
    )
  }
  for (const attester of ours) await inspectAttester(registry, rpc, attester, report)
  const known = new Set(ours.map(({ address }) => address.toLowerCase()))
  for (const address of (await registry.registeredAttesters(rpc)) ?? []) {
    if (!known.has(address.toLowerCase()))
      report('attester', address, 'note', 'registered but unknown here: deregister it unless you know its owner')
  }
}

/** Reports failures of the chain as findings; doesn't reject. */
const inspectChain = async (input: InspectionInput): Promise<readonly ChainCheck[]> => {
  const { chain, settings } = input
  const checks: ChainCheck[] = []
  const report: Report = (check, subject, result, detail) =>
    void checks.push({ chain: chain.name, check, subject, result, detail })
  const registry = registryOf(chain, settings)
  let usable: JsonRpc | null = null
  for (const url of settings.rpcUrls ?? []) {
    const rpc = await inspectRpc(input, registry, url, report)
    usable ??= rpc
  }
  if (settings.registry === undefined) {
    report('registry', '', 'note', 'no registry is configured: contracts are known only by their bindings')
  } else if (usable === null) {
    report('registry', settings.registry, 'problem', 'cannot be read without an RPC URL')
  } else {
    try {
      await inspectRegistry(input, registry, usable, report)
    } catch (error) {
      report('registry', settings.registry, 'problem', failureReason(error))
    }
  }
  return checks
}

export interface ChainsInspectionInput {
  readonly chains: ChainTable
  readonly chainSettings: ReadonlyMap<string, ChainSettings>
  readonly only?: string | undefined
  /** Called only if there is a chain to check. */
  readonly readAttesters: () => Promise<readonly Attester[]>
  readonly nowSeconds: () => number
}

/** Inspects chains concurrently, because an unresponsive chain takes seconds. */
export const inspectChains = async (input: ChainsInspectionInput): Promise<readonly ChainCheck[]> => {
  const { chains, chainSettings, only, readAttesters, nowSeconds } = input
  const wanted = chains.chains.flatMap((chain) => {
    const settings = chainSettings.get(chain.name)
    if (settings?.rpcUrls === undefined || (only !== undefined && chain.name !== only)) return []
    return [{ chain, settings }]
  })
  if (wanted.length === 0) return []
  const attesters = await readAttesters()
  return (await Promise.all(wanted.map((each) => inspectChain({ ...each, attesters, nowSeconds })))).flat()
}
