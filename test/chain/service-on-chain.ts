// The running service and the contracts that enforce its answers: registry, example contracts and verifier on a local
// node, bound to the quick start's project on every EVM chain. For the suite's test and for the long run.
import type { Hex } from 'viem'
import { parseEvmAddress } from '../../src/domain/address.ts'
import { BUILT_IN_CHAINS, type EvmChain } from '../../src/domain/chain.ts'
import { systemClock } from '../../src/lib/time.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { openStore } from '../../src/store/store.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { type AttestationArgument, encodeInternal, type TaskMessageArgument, testAttester } from './attesting.ts'
import { type Deployed, type LocalChain, startLocalChain } from './local-chain.ts'

export const EVM_CHAINS: readonly EvmChain[] = BUILT_IN_CHAINS.flatMap((chain) =>
  chain.family === 'evm' ? [chain] : [],
)

/** Registered beside the service's own, so that naming it is refused for its signature and not for being unknown. */
export const SECOND_ATTESTER = testAttester(2).address

const SUPPLY = 10n ** 24n
const TIMESTAMP = 1

export type ExampleContract = 'GuardedVault' | 'GuardedToken' | 'BasicGuardedVault' | 'BasicGuardedToken'

/** The contract that is bound to the project, and another one like it. */
export interface ContractPair {
  readonly target: Deployed
  readonly twin: Deployed
}

export interface ServiceOnChain {
  readonly chain: LocalChain
  readonly service: RunningService
  readonly quickstart: Readonly<Record<string, string>>
  readonly verificationHash: string
  readonly registry: Deployed
  readonly verifier: Deployed
  readonly contracts: Readonly<Record<ExampleContract, ContractPair>>
  /** @throws Error when the service does not attest. */
  attest(body: Readonly<Record<string, string>>): Promise<AttestationArgument>
  /** A vault whose deposits need a task signed by `quorum` attesters. */
  deployTaskVault(quorum: number): Promise<Deployed>
  /** The service's task for a deposit for oneself; null unless `quorum` attesters signed it. */
  taskFor(vault: Deployed, from: Hex, value: bigint, quorum: number): Promise<TaskMessageArgument | null>
  stop(): Promise<void>
}

/** Makes `addresses` the project's on every EVM chain, as `countersign project bind` does one at a time. */
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
  const verifier = await chain.deploy('TaskVerifier', owner, TIMESTAMP)
  for (const to of [registry, verifier]) {
    for (const attester of [evmAttester, SECOND_ATTESTER]) {
      await chain.send({ to, name: 'registerAttester', arguments: [attester] })
    }
  }
  const pair = async (contract: ExampleContract, ...more: readonly bigint[]): Promise<ContractPair> => ({
    target: await chain.deploy(contract, owner, registry.address, verificationHash, ...more),
    twin: await chain.deploy(contract, owner, registry.address, verificationHash, ...more),
  })
  return {
    registry,
    verifier,
    contracts: {
      GuardedVault: await pair('GuardedVault'),
      GuardedToken: await pair('GuardedToken', SUPPLY),
      BasicGuardedVault: await pair('BasicGuardedVault'),
      BasicGuardedToken: await pair('BasicGuardedToken', SUPPLY),
    },
  }
}

const createAttest =
  (service: RunningService): ServiceOnChain['attest'] =>
  async (body) => {
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

const createTaskFor =
  ({ quickstart }: RunningService): ServiceOnChain['taskFor'] =>
  async (vault, from, value, quorum) => {
    const response = await fetch(`${quickstart['ATTESTATION_URL']}/v1/task`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' },
      body: JSON.stringify({
        from,
        to: vault.address,
        data: encodeInternal('_deposit(address)', ['address', from]),
        msg_value: value.toString(),
      }),
    })
    if (response.status !== 200) return null
    const answer = (await response.json()) as {
      task_id: string
      expiry_block: number
      signers: Hex[]
      signature: Hex[]
    }
    if (answer.signers.length !== quorum) return null
    return {
      taskId: answer.task_id,
      expiry: BigInt(answer.expiry_block),
      signerAddresses: answer.signers,
      signatures: answer.signature,
    }
  }

const connect = async (
  chain: LocalChain,
  service: RunningService,
  stop: () => Promise<void>,
): Promise<ServiceOnChain> => {
  const { quickstart, dataDirectory } = service
  const verificationHash = quickstart['VERIFICATION_HASH'] ?? ''
  const deployed = await deployContracts(chain, quickstart['EVM_ATTESTER'] ?? '', verificationHash)
  const targets = Object.values(deployed.contracts).map(({ target }) => target.address)
  await bindEverywhere(dataDirectory, verificationHash, targets)
  return {
    ...deployed,
    chain,
    service,
    quickstart,
    verificationHash,
    attest: createAttest(service),
    taskFor: createTaskFor(service),
    async deployTaskVault(quorum) {
      const { address: verifier } = deployed.verifier
      const vault = await chain.deploy('TaskGuardedVault', chain.accounts[0], verifier, verificationHash, quorum)
      await bindEverywhere(dataDirectory, verificationHash, [vault.address])
      return vault
    },
    stop,
  }
}

/** Everything is stopped when any of it can't be started. */
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
