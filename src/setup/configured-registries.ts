// Configured policy registries. Public registries have other owners and attesters, so chains without a configured
// registry are never queried.
import type { ChainSettings } from '../config/chain-settings.ts'
import type { Config } from '../config/config.ts'
import { EVM_ZERO_ADDRESS, SOLANA_ZERO_ADDRESS } from '../domain/address.ts'
import type { Chain } from '../domain/chain.ts'
import { createEvmRegistry } from '../facts/evm-registry.ts'
import { failureReason } from '../facts/failure-reason.ts'
import { createJsonRpc } from '../facts/json-rpc.ts'
import { createPolicyRegistries, type PolicyRegistries, type ReadableRegistry } from '../facts/policy-registries.ts'
import type { ChainRegistry } from '../facts/registry.ts'
import { createRpcChoice } from '../facts/rpc-choice.ts'
import { createSolanaRegistry, MAINNET_GENESIS_HASH } from '../facts/solana-registry.ts'
import type { Clock } from '../lib/time.ts'
import type { Logger } from '../telemetry/log.ts'

/** Timeout per attempt and URL. Several attempts fit into a request's deadline. */
export const REGISTRY_TIMEOUT_MS = 5_000

/** Addresses without a registry, for checks of a chain that has none configured. */
const NOWHERE = { evm: EVM_ZERO_ADDRESS, solana: SOLANA_ZERO_ADDRESS } as const

export const registryOf = (
  chain: Chain,
  { registry = NOWHERE[chain.family], genesisHash }: ChainSettings,
): ChainRegistry =>
  chain.family === 'evm'
    ? createEvmRegistry(chain.chainId, registry)
    : createSolanaRegistry(registry, genesisHash ?? MAINNET_GENESIS_HASH)

/** Paths and queries of RPC URLs may contain keys. */
export const rpcHost = (url: string): string => new URL(url).host

export const createRegistries = (
  { chains, chainSettings }: Pick<Config, 'chains' | 'chainSettings'>,
  clock: Clock,
  log: Logger,
): PolicyRegistries => {
  const registries = new Map<string, ReadableRegistry>()
  for (const chain of chains.chains) {
    const settings = chainSettings.get(chain.name)
    if (settings?.registry === undefined || settings.rpcUrls === undefined) continue
    const { rpcUrls, rpcAgreement = 1 } = settings
    const registry = registryOf(chain, settings)
    const choice = createRpcChoice({
      rpcs: rpcUrls.map((url) => createJsonRpc({ url, timeoutMs: REGISTRY_TIMEOUT_MS })),
      verify: registry.verify,
      agreement: rpcAgreement,
      clock,
      onError: (error, index) => {
        const host = rpcHost(rpcUrls[index] ?? '')
        log.warn('could not read a policy registry', { chain: chain.name, host, reason: failureReason(error) })
      },
    })
    registries.set(chain.name, { registry, choice })
  }
  return createPolicyRegistries({ registries, clock })
}
