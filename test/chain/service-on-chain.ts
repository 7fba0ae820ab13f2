// A running service, and a registry and example contracts on a local node, which are bound to the quick start's project on
// every EVM chain.
import type { Hex } from 'viem'
import { parseEvmAddress } from '../../src/domain/address.ts'
import { BUILT_IN_CHAINS, type EvmChain } from '../../src/domain/chain.ts'
import { systemClock } from '../../src/lib/time.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { openStore } from '../../src/store/store.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { type AttestationArgument, testAttester } from './attesting.ts'
import { type LocalChain, startLocalChain } from './local-chain.ts'

export const EVM_CHAINS: readonly EvmChain[] = BUILT_IN_CHAINS.flatMap((chain) =>
  chain.family === 'evm' ? [chain] : [],
)

/** A second registered attester, so that an attestation in its name is refused because of its signature. */
export const SECOND_ATTESTER = testAttester(2).address

const SUPPLY = 10n ** 24n

export type ExampleContract = 'GuardedVault' | 'GuardedToken' | 'BasicGuardedVault' | 'BasicGuardedToken'

/** Binds the addresses to the project on every EVM chain. */
const bindEverywhere = async (
  dataDirectory: string,
  verificationHash: string,
  addresses: readonly Hex[],
): Promise<void> => {
  const store = await openStore({ path: dataFolderAt(dataDirectory).database, clock: systemClock })
  try {
    await store.transaction(async (tables) => {
      const [organization] = await tables.organizations.list()
      const organizationId = organization!.id
      const projects = await tables.projects.list(organizationId)
      const projectId = projects.find((project) => project.verificationHash === verificationHash)!.id
      for (const { name: chainName } of EVM_CHAINS) {
        for (const text of addresses) {
          const address = parseEvmAddress(text)!
          await tables.bindings.create({ organizationId, projectId, chainName, address })
        }
      }
    })
  } finally {
    await store.close()
  }
}

const deployContracts = async (chain: LocalChain, evmAttester: string, verificationHash: string) => {
  const owner = chain.accounts[0]!
  const registry = await chain.deploy('PolicyRegistry', owner)
  for (const attester of [evmAttester, SECOND_ATTESTER]) {
    await chain.send({ to: registry, name: 'registerAttester', arguments: [attester] })
  }
  /** Deploys the contract that is bound to the project, and an unbound copy. */
  const pair = async (contract: ExampleContract, ...more: readonly bigint[]) => ({
    target: await chain.deploy(contract, owner, registry.address, verificationHash, ...more),
    twin: await chain.deploy(contract, owner, registry.address, verificationHash, ...more),
  })
  return {
    registry,
    contracts: {
      GuardedVault: await pair('GuardedVault'),
      GuardedToken: await pair('GuardedToken', SUPPLY),
      BasicGuardedVault: await pair('BasicGuardedVault'),
      BasicGuardedToken: await pair('BasicGuardedToken', SUPPLY),
    },
  }
}

/** @throws Error if the service does not attest */
const createAttest =
  (service: RunningService) =>
  async (body: Readonly<Record<string, string>>): Promise<AttestationArgument> => {
    const response = await service.attest(body)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`no attestation: ${response.status} ${text}`)
    const answer = JSON.parse(text) as {
      is_compliant: boolean
      attestation: { uuid: string; expiration: number; attester: Hex; signature: Hex }
    }
    if (!answer.is_compliant) throw new Error(`no attestation: ${text}`)
    return { ...answer.attestation, expiration: BigInt(answer.attestation.expiration) }
  }

const connect = async (chain: LocalChain, service: RunningService, stop: () => Promise<void>) => {
  const { quickstart, dataDirectory } = service
  const verificationHash = quickstart['VERIFICATION_HASH'] ?? ''
  const deployed = await deployContracts(chain, quickstart['EVM_ATTESTER'] ?? '', verificationHash)
  const targets = Object.values(deployed.contracts).map(({ target }) => target.address)
  await bindEverywhere(dataDirectory, verificationHash, targets)
  return { ...deployed, chain, verificationHash, attest: createAttest(service), stop }
}
export type ServiceOnChain = Awaited<ReturnType<typeof connect>>

/** Stops everything if a part cannot be started. */
export const startServiceOnChain = async (): Promise<ServiceOnChain> => {
  const chain = await startLocalChain(EVM_CHAINS[0]!.chainId)
  let service: RunningService | undefined
  const stop = async (): Promise<void> => {
    await Promise.all([service?.stop(), chain.stop()])
  }
  try {
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
    return await connect(chain, service, stop)
  } catch (error) {
    await stop()
    throw error
  }
}
