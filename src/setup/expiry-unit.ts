// Chains whose v1 tasks expire in Unix seconds only for lack of an RPC URL (decisions §3).
import { PARENT_BLOCK_CHAINS } from '../attestation/expiry.ts'
import type { Config } from '../config/config.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Finding } from './finding.ts'

export const SECONDS_REMEDY =
  'without an RPC URL, expiry_block of v1 is in Unix seconds: set rpc under chains, or expiry: seconds if this is intended'

/** Excludes chains whose unit would be the same with an RPC URL. */
const chainsWithoutHeight = ({ chains, chainSettings }: Pick<Config, 'chains' | 'chainSettings'>): string[] =>
  chains.chains
    .filter(({ name, family }) => {
      const { rpcUrls, expiryUnit } = chainSettings.get(name) ?? {}
      return family === 'evm' && rpcUrls === undefined && expiryUnit === undefined && !PARENT_BLOCK_CHAINS.has(name)
    })
    .map(({ name }) => name)

/** Logs these chains. Returns a function that logs the first task of each. */
export const reportSeconds = (
  config: Pick<Config, 'chains' | 'chainSettings'>,
  log: Pick<Logger, 'info' | 'warn'>,
): ((chainName: string) => void) => {
  const unreported = new Set(chainsWithoutHeight(config))
  if (unreported.size > 0) log.info(SECONDS_REMEDY, { chains: [...unreported] })
  return (chain) => {
    if (unreported.delete(chain)) log.warn(SECONDS_REMEDY, { chain })
  }
}

export const inspectExpiryUnit = (config: Pick<Config, 'chains' | 'chainSettings'>): readonly Finding[] => {
  const subject = chainsWithoutHeight(config).join(', ')
  return subject === '' ? [] : [{ check: 'expiry', subject, result: 'note', detail: SECONDS_REMEDY }]
}
